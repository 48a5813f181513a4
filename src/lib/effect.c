/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The effect of the arm on ordered rounds. Everything but the arm is first taken
 * out of both sides (Frisch, Waugh, Lovell), so that covariates may be redundant
 * among each other; only when the arm itself follows from them is there nothing
 * left to say, and that is told instead of a number.
 */
#include "tare/effect.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Singular values below this share of the largest are none; also what is left of the arm when it is confounded. */
#define NOTHING 1e-9

int tare_order_arm(uint64_t i, bool complement)
{
	return __builtin_parityll(i) ^ (int)complement;
}

bool tare_order_interleaved(const unsigned char *arms, size_t n)
{
	double b = 0, sum = 0;
	for (size_t i = 0; i < n; i++)
		b += arms[i] != 0;
	double a = (double)n - b;
	if (a < 2 || b < 2)
		return false;
	double middle = ((double)n - 1) / 2, places = (double)n * ((double)n * (double)n - 1) / 12;
	for (size_t i = 0; i < n; i++)
		sum += (double)(arms[i] != 0) * ((double)i - middle);
	return fabs(sum) / sqrt(places * a * b / (double)n) <= 0.5;
}

/* ---- least squares ---- */

/* The columns beside the arm: one, drift, covariates. */
struct nuisance {
	size_t n, columns, rank;
	gsl_matrix *matrix, *covariance;
	gsl_vector *solution;
	gsl_multifit_linear_workspace *work;
};

static void nuisance_end(const struct nuisance *nuisance)
{
	if (nuisance->matrix)
		gsl_matrix_free(nuisance->matrix);
	if (nuisance->covariance)
		gsl_matrix_free(nuisance->covariance);
	if (nuisance->solution)
		gsl_vector_free(nuisance->solution);
	if (nuisance->work)
		gsl_multifit_linear_free(nuisance->work);
}

static double place_of(const struct tare_rounds *rounds, size_t i)
{
	return rounds->at ? rounds->at[i] : (double)i;
}

/* Columns about their mean and of length one, so that ns and hours weigh alike. */
static void fill_column(gsl_matrix *matrix, size_t column)
{
	double mean = 0, squares = 0;
	size_t n = matrix->size1;
	for (size_t i = 0; i < n; i++)
		mean += gsl_matrix_get(matrix, i, column) / (double)n;
	double size = 0;
	for (size_t i = 0; i < n; i++) {
		double value = gsl_matrix_get(matrix, i, column) - mean;
		size = fmax(size, fabs(value + mean));
		squares += value * value;
	}
	double length = sqrt(squares);
	/* a constant column says nothing beside the first */
	bool flat = length <= NOTHING * size * sqrt((double)n);
	for (size_t i = 0; i < n; i++)
		gsl_matrix_set(matrix, i, column, flat ? 0 : (gsl_matrix_get(matrix, i, column) - mean) / length);
}

static bool nuisance_open(const struct tare_rounds *rounds, bool drift, const double *extra, struct nuisance *nuisance)
{
	size_t n = rounds->n, columns = 1 + (size_t)drift + rounds->covariate_count + (extra != NULL);
	/* GSL wants at least as many rows as columns: rows of zeros change nothing */
	size_t rows = n > columns ? n : columns;
	*nuisance = (struct nuisance){.n = n, .columns = columns};
	nuisance->matrix = gsl_matrix_calloc(rows, columns);
	nuisance->covariance = gsl_matrix_alloc(columns, columns);
	nuisance->solution = gsl_vector_alloc(columns);
	nuisance->work = gsl_multifit_linear_alloc(rows, columns);
	if (!nuisance->matrix || !nuisance->covariance || !nuisance->solution || !nuisance->work)
		return false;
	gsl_matrix_view used = gsl_matrix_submatrix(nuisance->matrix, 0, 0, n, columns);
	for (size_t i = 0; i < n; i++) {
		size_t column = 0;
		gsl_matrix_set(&used.matrix, i, column++, 1 / sqrt((double)n));
		if (drift)
			gsl_matrix_set(&used.matrix, i, column++, place_of(rounds, i));
		for (size_t j = 0; j < rounds->covariate_count; j++)
			gsl_matrix_set(&used.matrix, i, column++, rounds->covariates[j][i]);
		if (extra)
			gsl_matrix_set(&used.matrix, i, column, extra[i]);
	}
	for (size_t j = 1; j < columns; j++)
		fill_column(&used.matrix, j);
	return true;
}

/* What the columns do not explain of `values`, in place. */
static int take_out(struct nuisance *nuisance, double *values)
{
	size_t rows = nuisance->matrix->size1;
	double square = 0;
	gsl_vector *right = gsl_vector_calloc(rows), *rest = gsl_vector_alloc(rows);
	int status = right && rest ? 0 : -1;
	for (size_t i = 0; status == 0 && i < nuisance->n; i++)
		gsl_vector_set(right, i, values[i]);
	if (status == 0)
		status = gsl_multifit_linear_tsvd(nuisance->matrix, right, NOTHING, nuisance->solution,
			nuisance->covariance, &square, &nuisance->rank, nuisance->work);
	if (status == 0)
		status = gsl_multifit_linear_residuals(nuisance->matrix, right, nuisance->solution, rest);
	for (size_t i = 0; status == 0 && i < nuisance->n; i++)
		values[i] = gsl_vector_get(rest, i);
	if (right)
		gsl_vector_free(right);
	if (rest)
		gsl_vector_free(rest);
	return status == 0 ? 0 : -1;
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Coefficient of `column` beside the nuisance; NAN when it follows from it. Both vectors are used up. */
static int coefficient(struct nuisance *nuisance, double *column, double *values, double *ret_slope, double *ret_length)
{
	size_t n = nuisance->n;
	double before = product(column, column, n);
	if (take_out(nuisance, column) < 0 || take_out(nuisance, values) < 0)
		return -1;
	double length = product(column, column, n);
	bool none = length <= NOTHING * before;
	*ret_slope = none ? NAN : product(column, values, n) / length;
	*ret_length = none ? 0 : length;
	return 0;
}

static void take_rounds(const struct tare_rounds *rounds, double *arm, double *values)
{
	for (size_t i = 0; i < rounds->n; i++) {
		arm[i] = rounds->arms[i] ? 1 : 0;
		values[i] = rounds->values[i];
	}
}

static int fit_arm(const struct tare_rounds *rounds, bool drift, double *arm, double *values, struct tare_effect *effect)
{
	__attribute__((cleanup(nuisance_end))) struct nuisance nuisance = {0};
	double length = 0;
	size_t n = rounds->n;
	take_rounds(rounds, arm, values);
	if (!nuisance_open(rounds, drift, NULL, &nuisance) ||
		coefficient(&nuisance, arm, values, &effect->effect, &length) < 0)
		return -1;
	effect->confounded = length == 0;
	effect->degrees = (double)n - (double)nuisance.rank - 1;
	if (effect->degrees < 0)
		effect->degrees = 0;
	if (effect->confounded)
		return 0;
	double rest = 0;
	for (size_t i = 0; i < n; i++) {
		double left = values[i] - effect->effect * arm[i];
		rest += left * left;
	}
	effect->per_s = 1 / sqrt(length);
	effect->s = effect->degrees > 0 ? sqrt(rest / effect->degrees) : NAN;
	return 0;
}

static int fit_drift(const struct tare_rounds *rounds, double *place, double *values, double *arm, struct tare_effect *effect)
{
	__attribute__((cleanup(nuisance_end))) struct nuisance nuisance = {0};
	double length = 0;
	take_rounds(rounds, arm, values);
	for (size_t i = 0; i < rounds->n; i++)
		place[i] = place_of(rounds, i) - place_of(rounds, 0);
	if (!nuisance_open(rounds, false, arm, &nuisance))
		return -1;
	return coefficient(&nuisance, place, values, &effect->drift, &length);
}

int tare_effect_of(const struct tare_rounds *rounds, bool drift, struct tare_effect *ret_effect, struct tare_err *err)
{
	size_t b = 0;
	for (size_t i = 0; i < rounds->n; i++)
		b += rounds->arms[i] != 0;
	if (b == 0 || b == rounds->n)
		return tare_fail(err, TARE_E_USAGE, "there are only rounds of arm %s", b ? "B" : "A");
	double *room = calloc(rounds->n, 3 * sizeof *room);
	if (!room)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	struct tare_effect effect = {.effect = NAN, .per_s = NAN, .s = NAN, .drift = NAN};
	int status = fit_arm(rounds, drift, room, room + rounds->n, &effect);
	if (status == 0 && drift)
		status = fit_drift(rounds, room, room + rounds->n, room + 2 * rounds->n, &effect);
	free(room);
	if (status < 0)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	*ret_effect = effect;
	return 0;
}

void tare_effect_pool(struct tare_effect *effect, const struct tare_spread *calibrated)
{
	if (!(calibrated->degrees > 0))
		return;
	double own = effect->degrees > 0 ? effect->degrees * effect->s * effect->s : 0;
	double degrees = effect->degrees + calibrated->degrees;
	effect->s = sqrt((own + calibrated->degrees * calibrated->s * calibrated->s) / degrees);
	effect->degrees = degrees;
}

struct tare_span_of_effect tare_effect_interval(const struct tare_effect *effect, double level)
{
	if (!(effect->degrees > 0) || isnan(effect->effect))
		return (struct tare_span_of_effect){-INFINITY, INFINITY};
	double half = gsl_cdf_tdist_Pinv(0.5 + level / 2, effect->degrees) * effect->s * effect->per_s;
	return (struct tare_span_of_effect){effect->effect - half, effect->effect + half};
}

double tare_effect_chance(const struct tare_effect *effect)
{
	if (!(effect->degrees > 0) || isnan(effect->effect))
		return NAN;
	double error = effect->s * effect->per_s;
	if (error == 0)
		return effect->effect == 0 ? 1 : 0;
	return 2 * gsl_cdf_tdist_Q(fabs(effect->effect) / error, effect->degrees);
}
