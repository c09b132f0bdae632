/* Starts an executable of `ompvm cc` under ompvm: the first code of the program that runs.
 *
 * It replaces the process by `ompvm run` with the executable's own file, which carries the
 * program's bitcode. The program goes on natively if OMPVM_OFF is set, if ompvm is not installed,
 * or if ompvm itself has found nothing to run (OMPVM_NATIVE is then this process's number).
 * `link.rs` writes the path of ompvm into `path`.
 *
 * It calls no function, because the program may be linked without the C library. A program with
 * the privileges of another user goes on natively: the variables are not to be trusted. */

typedef unsigned long word;

/* The mark by which link.rs finds the place, and the path of ompvm; empty: go on natively. */
__attribute__((used)) static volatile char path[24 + 4096] = "OMPVM_START_PATH_MARK:  ";

/* Numbers of system calls (arch/x86/entry/syscalls/syscall_64.tbl) and of the auxiliary vector
 * (elf.h). */
enum { GETPID = 39, EXECVE = 59, READLINK = 89, AT_NULL = 0, AT_SECURE = 23 };

static long call(long number, const void *a, const void *b, const void *c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

static word length(const char *text) {
  word n = 0;
  while (text[n]) n++;
  return n;
}

/* Returns the value of `name=` in the environment, or null. */
static const char *value(char **environment, const char *name) {
  for (; *environment; environment++) {
    word i = 0;
    while (name[i] && (*environment)[i] == name[i]) i++;
    if (!name[i]) return *environment + i;
  }
  return 0;
}

static int is_on(const char *text) { return text && *text && !(text[0] == '0' && !text[1]); }

static int is_number(const char *text, long number) {
  long read = 0;
  if (!text || !*text) return 0;
  for (; *text >= '0' && *text <= '9'; text++) read = read * 10 + (*text - '0');
  return !*text && read == number;
}

/* Executes ompvm from the folders of PATH. */
static void search(const char *folders, char **arguments, char **environment) {
  char file[4096];
  while (*folders) {
    word n = 0;
    while (folders[n] && folders[n] != ':') n++;
    if (n && n + sizeof "/ompvm" <= sizeof file) {
      for (word i = 0; i < n; i++) file[i] = folders[i];
      for (word i = 0; i < sizeof "/ompvm"; i++) file[n + i] = "/ompvm"[i];
      call(EXECVE, file, arguments, environment);
    }
    folders += n + (folders[n] == ':');
  }
}

static void start(int count, char **arguments, char **environment) {
  const char *recorded = (const char *)path + 24;
  if (!*recorded || count < 1) return;
  word *vector = (word *)environment;
  while (*vector) vector++;
  for (vector++; *vector != AT_NULL; vector += 2)
    if (*vector == AT_SECURE && vector[1]) return;
  if (is_on(value(environment, "OMPVM_OFF="))) return;
  if (is_number(value(environment, "OMPVM_NATIVE="), call(GETPID, 0, 0, 0))) return;

  char self[4097];
  long n = call(READLINK, "/proc/self/exe", self, (void *)4096);
  if (n <= 0 || n >= 4096) return;
  self[n] = 0;
  static const char option[] = "--argv0=";
  char name[sizeof option + length(arguments[0])];
  for (word i = 0; i < sizeof option; i++) name[i] = option[i];
  for (word i = 0; i <= length(arguments[0]); i++) name[sizeof option - 1 + i] = arguments[0][i];

  char *line[count + 7];
  word used = 0;
  line[used++] = (char *)"ompvm";
  line[used++] = (char *)"run";
  line[used++] = (char *)"--self-started";
  line[used++] = name;
  line[used++] = self;
  line[used++] = (char *)"--";
  for (int i = 1; i < count; i++) line[used++] = arguments[i];
  line[used] = 0;

  const char *named = value(environment, "OMPVM=");
  if (named && *named) call(EXECVE, named, line, environment);
  call(EXECVE, recorded, line, environment);
  const char *folders = value(environment, "PATH=");
  if (folders) search(folders, line, environment);
}

__attribute__((used, section(".preinit_array"))) static void (*const entry)(int, char **, char **) = start;
