/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GTSC_STORE_H
#define GTSC_STORE_H

#include "gtsc.h"

uint32_t chunk_crc(const struct store_chunk *chunk, const void *data, size_t len);

#endif /* GTSC_STORE_H */
