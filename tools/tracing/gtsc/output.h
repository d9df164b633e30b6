/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GTSC_OUTPUT_H
#define GTSC_OUTPUT_H

#include <stdbool.h>

struct output {
	const char	*name;
	int		dir;
	int		staged;		/* the directory of new files; -1: they go into @dir */
};

int output_open(struct output *o, const char *name);
int output_create(struct output *o, const char *name);
int output_publish(struct output *o);
int output_restage(struct output *o);
int output_replace(struct output *o);
void output_close(struct output *o);

#endif /* GTSC_OUTPUT_H */
