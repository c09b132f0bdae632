// exit: 6
// args: -a -b val --name=foo --verbose rest
// getopt and getopt_long over the guest's own argv, libc's optarg and optind globals shared with the guest.
#include <stdio.h>
#include <getopt.h>
int main(int argc, char **argv) {
  int c, v = 0;
  struct option lo[] = {{"name", required_argument, 0, 'n'}, {"verbose", no_argument, &v, 5}, {0, 0, 0, 0}};
  while ((c = getopt_long(argc, argv, "ab:n:", lo, 0)) != -1) switch (c) {
    case 'a': printf("a "); break;
    case 'b': printf("b=%s ", optarg); break;
    case 'n': printf("n=%s ", optarg); break;
    case 0: printf("flag "); break;
    default: printf("? ");
    }
  printf("%d %d %s\n", v, argc - optind, argv[optind]);
  return optind;
}
