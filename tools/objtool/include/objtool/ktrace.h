/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OBJTOOL_KTRACE_H
#define _OBJTOOL_KTRACE_H

struct objtool_file;

int create_ktrace_sites_section(struct objtool_file *file);

#endif /* _OBJTOOL_KTRACE_H */
