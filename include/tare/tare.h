/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libtare: latency samples, their statistics and their recordings.
 *
 * Reading order: err.h (how failures are told), sample.h (what a sample is),
 * origin.h and run.h (where it comes from and what surrounds it), rate.h (which
 * load it was), stat.h (figures), interval.h and dependence.h (how far they can
 * be trusted), stalls.h, warmup.h, variation.h, modes.h, change.h and rounds.h
 * (what figures do not show), budget.h (where the time went), cause.h (why a
 * request was slow), effect.h (arithmetic of comparing rounds), verdict.h (did
 * the change change it), calibration.h (what identical rounds differ by),
 * recording.h and plan.h (files), axis.h and card_clock.h (from several clocks to
 * one axis).
 *
 * The library opens no socket, prints nothing and never exits. All functions
 * may be called from any thread; one object is used by one thread at a time.
 */
#pragma once
#include "tare/axis.h"
#include "tare/budget.h"
#include "tare/card_clock.h"
#include "tare/cause.h"
#include "tare/calibration.h"
#include "tare/change.h"
#include "tare/dependence.h"
#include "tare/effect.h"
#include "tare/err.h"
#include "tare/interval.h"
#include "tare/modes.h"
#include "tare/origin.h"
#include "tare/plan.h"
#include "tare/rate.h"
#include "tare/recording.h"
#include "tare/rounds.h"
#include "tare/run.h"
#include "tare/sample.h"
#include "tare/stalls.h"
#include "tare/stat.h"
#include "tare/variation.h"
#include "tare/verdict.h"
#include "tare/warmup.h"
