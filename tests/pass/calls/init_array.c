// Constructors and destructors whose addresses a program puts into the sections of the loader itself:
// before `main`, by priority, with main's arguments; destructors in the opposite order.
// levels: O0 O2
// stdout: pre 1 early 1 second 1 third 1 default plain main
// stdout: late first plain default second third early
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void constructor(int, char **, char **);
#define IN(section_) __attribute__((section(section_), used)) static

static char text[200];
static void add(const char *word) {
  if (text[0])
    strcat(text, " ");
  strcat(text, word);
}
static void add_count(const char *word, int argc, char **argv, char **envp) {
  add(word);
  add(argc == 1 && argv[0] && !argv[1] && envp ? "1" : "?");
}

static void pre(int argc, char **argv, char **envp) { add_count("pre", argc, argv, envp); }
static void early(int argc, char **argv, char **envp) { add_count("early", argc, argv, envp); }
static void second(int argc, char **argv, char **envp) { add_count("second", argc, argv, envp); }
static void third(int argc, char **argv, char **envp) { add_count("third", argc, argv, envp); }
static void by_default(void) { add("default"); }

IN(".init_array") constructor *const both[] = {second, third};
IN(".preinit_array") constructor *at_first = pre;
IN(".init_array.00150") constructor *at_150 = early;
__attribute__((constructor)) static void constructed(void) {
  by_default();
  add("plain");
}

static void say(const char *word) { fputs(word, stdout); }
static void late(void) { say("late"); }
static void first(void) { say(" first"); }
static void plain(void) { say(" plain default"); }
static void down_second(void) { say(" second"); }
static void down_third(void) { say(" third"); }
static void down_early(void) { say(" early\n"); }
IN(".fini_array") void (*const down[])(void) = {down_third, down_second};
IN(".fini_array.00150") void (*down_150)(void) = down_early;
__attribute__((destructor)) static void destructed(void) { plain(); }

int main(void) {
  add("main");
  puts(text);
  atexit(first);
  atexit(late);
  return 0;
}
