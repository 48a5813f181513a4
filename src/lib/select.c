/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selection by Hoare's partition about the median of three; values equal to the
 * pivot are swapped too, so that an array of equal values is halved, not walked.
 */
#include "lib/select.h"

#define DEFINE_SELECT(name, type)                                                                                      \
	type name(type *values, size_t n, size_t k)                                                                    \
	{                                                                                                              \
		size_t low = 0, high = n - 1;                                                                          \
		while (low < high) {                                                                                   \
			type a = values[low], b = values[low + (high - low) / 2], c = values[high];                    \
			type pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);                \
			size_t left = low, right = high;                                                               \
			for (;;) {                                                                                     \
				while (values[left] < pivot)                                                           \
					left++;                                                                        \
				while (pivot < values[right])                                                          \
					right--;                                                                       \
				if (left >= right)                                                                     \
					break;                                                                         \
				type swap = values[left];                                                              \
				values[left++] = values[right];                                                        \
				values[right--] = swap;                                                                \
			}                                                                                              \
			/* low..right are <= pivot, right+1..high are >= pivot */                                      \
			if (k <= right)                                                                                \
				high = right;                                                                          \
			else                                                                                           \
				low = right + 1;                                                                       \
		}                                                                                                      \
		return values[k];                                                                                      \
	}

DEFINE_SELECT(select_integer, int64_t)
DEFINE_SELECT(select_real, double)

double median_real(double *values, size_t n)
{
	double upper = select_real(values, n, n / 2);
	return n % 2 ? upper : (select_real(values, n, n / 2 - 1) + upper) / 2;
}
