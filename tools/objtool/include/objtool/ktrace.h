/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OBJTOOL_KTRACE_H
#define _OBJTOOL_KTRACE_H

#include <stdbool.h>

struct objtool_file;
struct section;

bool is_ktrace_optin_list(struct section *sec);
int create_ktrace_sites_section(struct objtool_file *file);

#endif /* _OBJTOOL_KTRACE_H */
