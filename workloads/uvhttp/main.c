/* uvhttp: flags. */
#include <stdio.h>
#include <stdlib.h>

#include "server.h"

/* number reads a whole decimal number, or returns -1. */
static long number(const char *text, long least, long most)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    long n = strtol(text, &end, 10);
    return *end == '\0' && n >= least && n <= most ? n : -1;
}

/* flag_value returns the value of "--name VALUE" or "--name=VALUE" and steps over it, or NULL when this is another flag. */
static const char *flag_value(char **argv, int *i, const char *name)
{
    size_t size = strlen(name);
    if (strncmp(argv[*i], name, size) != 0)
        return NULL;
    if (argv[*i][size] == '=')
        return argv[*i] + size + 1;
    if (argv[*i][size] != '\0')
        return NULL;
    if (argv[*i + 1] == NULL)
        return "";
    return argv[++*i];
}

int main(int argc, char **argv)
{
    struct options options = {.port = 8080};
    long port = 8080, most = 0;
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        const char *value;
        if ((value = flag_value(argv, &i, "--port")) != NULL)
            good = (port = number(value, 1, 65535)) > 0;
        else if ((value = flag_value(argv, &i, "--max-connections")) != NULL)
            good = (most = number(value, 1, 1000000)) > 0;
        else if ((value = flag_value(argv, &i, "--root")) != NULL)
            good = *(options.root = value) != '\0';
        else
            good = false;
    }
    if (!good) {
        fprintf(stderr, "usage: uvhttp [--port PORT] [--root DIR] [--max-connections N]\n");
        return 2;
    }
    options.port = (int)port;
    options.max_connections = (unsigned)most;
    return server_run(&options);
}
