// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: allocations that fail, for tests.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include "fault.h"

/**
 * ftrace_mux_should_fail - whether an allocation has to fail
 *
 * A test replaces this function.
 *
 * Context: any.
 *
 * Return: true if the caller has to return as if there was no memory.
 */
bool ftrace_mux_should_fail(void)
{
	KUNIT_STATIC_STUB_REDIRECT(ftrace_mux_should_fail);

	return false;
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_mux_should_fail);
