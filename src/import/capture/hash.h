/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys of packets as two 64-bit words, folded by multiplication with a seed that
 * differs from run to run: nobody can write a capture whose packets all fall into
 * one place. With 2^20 requests in flight the chance that any two share both
 * words is below 2^-87, so keys are compared by them alone.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash {
	uint64_t place, check;
};

static inline uint64_t hash_fold(uint64_t one, uint64_t other)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)one * other;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline struct hash hash_begin(uint64_t seed)
{
	return (struct hash){seed ^ 0x9e3779b97f4a7c15, ~seed ^ 0xd1b54a32d192ed03};
}

static inline void hash_word(struct hash *hash, uint64_t word)
{
	hash->place = hash_fold(hash->place ^ word ^ 0xa0761d6478bd642f, 0xe7037ed1a0b428db + (hash->check | 1));
	hash->check = hash_fold(hash->check + word, 0x8ebc6af09c88c6e3) ^ hash->place;
}

static inline void hash_bytes(struct hash *hash, const uint8_t *bytes, size_t count)
{
	uint64_t word;
	hash_word(hash, count);
	for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash_word(hash, word);
	}
	if (count) {
		word = 0;
		memcpy(&word, bytes, count);
		hash_word(hash, word);
	}
}
