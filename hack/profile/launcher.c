/* Starts one of valgrind's tools, --tool=NAME, from the folder that this program lies in: what valgrind's own launcher does, which looks in a
 * folder that was chosen when it was built, and needs a C library. A tool starts it again where a program that it runs becomes another. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char option[] = "--tool=";
	const char *name = NULL;
	char self[PATH_MAX], tool[PATH_MAX + NAME_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	for (int i = 1; i < argc && argv[i][0] == '-'; i++)
		if (strncmp(argv[i], option, sizeof option - 1) == 0)
			name = argv[i] + sizeof option - 1;
	if (n < 0 || name == NULL || strchr(name, '/') != NULL) {
		fprintf(stderr, "usage: launcher --tool=NAME [OPTION...] PROGRAM [ARGUMENT...], with /proc mounted\n");
		return 127;
	}
	self[n] = '\0';
	setenv("VALGRIND_LAUNCHER", self, 1);
	*strrchr(self, '/') = '\0';
	setenv("VALGRIND_LIB", self, 1);
	snprintf(tool, sizeof tool, "%s/%s", self, name);
	execv(tool, argv);
	perror(tool);
	return 127;
}
