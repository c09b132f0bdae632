/* Shows the value of a cell's last expression. It stands before each such cell's text. The names
   `__ompvm_show_*` without a body are functions of the host (shown.rs). */
void __ompvm_show_bool(_Bool);
void __ompvm_show_char(char);
void __ompvm_show_signed(long long);
void __ompvm_show_unsigned(unsigned long long);
void __ompvm_show_float(float);
void __ompvm_show_double(double);
void __ompvm_show_complex(double, double);
void __ompvm_show_pointer(const volatile void *);
void __ompvm_show_string(const volatile char *, unsigned long);
void __ompvm_show_raw(const char *, unsigned long);

struct __ompvm_none {
  char none;
};

static int __ompvm_format(const char *format, ...) {
  char text[4096];
  __builtin_va_list list;
  __builtin_va_start(list, format);
  __builtin_vsnprintf(text, sizeof text, format, list);
  __builtin_va_end(list);
  __ompvm_show_raw(text, __builtin_strlen(text));
  return 0;
}

static void __ompvm_show_text(const volatile char *text) {
  if (text)
    __ompvm_show_string(text, __builtin_strlen((const char *)text));
  else
    __ompvm_show_pointer(text);
}

static void __ompvm_show_long_double(long double value) { __ompvm_format("%.18Lg", value); }

static void __ompvm_show_int128(unsigned __int128 value) {
  __ompvm_format("0x%llx%016llx", (unsigned long long)(value >> 64), (unsigned long long)value);
}

/* `__builtin_classify_type` returns 9 for complex numbers, 12 for structures, 13 for unions. */
#define __OMPVM_CLASS(class) (__builtin_classify_type(__ompvm_value) == (class))
#define __OMPVM_RECORD (__OMPVM_CLASS(12) || __OMPVM_CLASS(13))
#define __OMPVM_SCALAR __builtin_choose_expr(__OMPVM_RECORD || __OMPVM_CLASS(9), 0, __ompvm_value)
#define __OMPVM_COMPLEX __builtin_choose_expr(__OMPVM_CLASS(9), __ompvm_value, 0.0)

/* An expression of type void has no value. */
#define __OMPVM_SHOW(...)                                                                          \
  __auto_type __ompvm_value = __builtin_choose_expr(                                               \
      __builtin_types_compatible_p(__typeof__(__VA_ARGS__), void),                                 \
      ((void)(__VA_ARGS__), (struct __ompvm_none){0}), (__VA_ARGS__));                             \
  if (__builtin_types_compatible_p(__typeof__(__ompvm_value), struct __ompvm_none))                \
    ;                                                                                              \
  else if (__OMPVM_RECORD)                                                                         \
    __builtin_dump_struct(__builtin_choose_expr(__OMPVM_RECORD, &__ompvm_value,                    \
                                                (struct __ompvm_none *)0),                         \
                          __ompvm_format);                                                         \
  else if (__OMPVM_CLASS(9))                                                                       \
    __ompvm_show_complex(__real__ __OMPVM_COMPLEX, __imag__ __OMPVM_COMPLEX);                      \
  else                                                                                             \
    _Generic(__OMPVM_SCALAR,                                                                       \
        _Bool: __ompvm_show_bool,                                                                  \
        char: __ompvm_show_char,                                                                   \
        signed char: __ompvm_show_signed,                                                          \
        short: __ompvm_show_signed,                                                                \
        int: __ompvm_show_signed,                                                                  \
        long: __ompvm_show_signed,                                                                 \
        long long: __ompvm_show_signed,                                                            \
        unsigned char: __ompvm_show_unsigned,                                                      \
        unsigned short: __ompvm_show_unsigned,                                                     \
        unsigned: __ompvm_show_unsigned,                                                           \
        unsigned long: __ompvm_show_unsigned,                                                      \
        unsigned long long: __ompvm_show_unsigned,                                                 \
        __int128: __ompvm_show_int128,                                                             \
        unsigned __int128: __ompvm_show_int128,                                                    \
        float: __ompvm_show_float,                                                                 \
        double: __ompvm_show_double,                                                               \
        long double: __ompvm_show_long_double,                                                     \
        char *: __ompvm_show_text,                                                                 \
        const char *: __ompvm_show_text,                                                           \
        default: __ompvm_show_pointer)(__OMPVM_SCALAR);
