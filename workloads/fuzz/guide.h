/*
 * What the code that is tried does with an input. gcc has it tell in each basic block (-fsanitize-coverage=trace-pc), zig has it count
 * (-ffuzz).
 */
#ifndef GUIDE_H
#define GUIDE_H

#include <stdbool.h>
#include <stddef.h>

/* guide_begin forgets what the input before has done. */
void guide_begin(void);

/* guide_new says whether the input since guide_begin has gone ways that none has gone, or one of them much more often. */
bool guide_new(void);

/* guide_ways is how many steps from one basic block to another have been seen at all. */
size_t guide_ways(void);

#endif
