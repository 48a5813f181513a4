/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The writer thread. It takes over a sealed round together with its spool and
 * removes the spool only when the recording has the round safely on disk: what
 * cannot be written (a full disk) stays in the spool, to be brought in later.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "clock/cpu.h"
#include "session/private.h"

static int write_job(struct tare_writer *writer, struct writer_job *job, struct tare_err *err)
{
	if (tare_writer_round(writer, &job->round, job->records, job->record_count, job->events, job->event_count,
		    job->readings, job->reading_count, err) < 0)
		return -1;
	for (size_t i = 0; i < JOB_FACTS; i++)
		if (job->fact_counts[i] && tare_writer_facts(writer, job->records[0].run->id, job->round.id, job->facts[i],
						   job->fact_counts[i], err) < 0)
			return -1;
	if (job->cause_count + job->evidence_count + job->share_count == 0)
		return 0;
	if (tare_writer_causes(writer, job->round.id, job->causes, job->cause_count, job->evidence, job->evidence_count,
		    err) == 0 &&
		tare_writer_shares(writer, job->round.id, job->shares, job->share_count, err) == 0)
		return 0;
	/* the samples are safe: brought in once more from the spool they would be there twice */
	spool_close(&job->spool, true);
	return -1;
}

static void *writer_main(void *argument)
{
	struct writer_thread *thread = argument;
	cpu_thread_name("tare-writer", false);
	struct sched_param none = {0};
	sched_setscheduler(0, SCHED_BATCH, &none);
	setpriority(PRIO_PROCESS, 0, 19);
	pthread_mutex_lock(&thread->lock);
	while (!thread->stopping || thread->job) {
		if (!thread->job) {
			pthread_cond_wait(&thread->changed, &thread->lock);
			continue;
		}
		struct writer_job *job = thread->job;
		pthread_mutex_unlock(&thread->lock);
		struct tare_err err = {0};
		bool failed = write_job(thread->writer, job, &err) < 0;
		if (failed && job->spool.path[0])
			tare_err_prefix(&err, "round %u waits in '%s' and is brought in when the recording is next read",
				job->round.number, job->spool.path);
		writer_job_free(job, !failed);
		pthread_mutex_lock(&thread->lock);
		if (failed && !thread->failed)
			thread->err = err;
		thread->failed |= failed;
		thread->job = NULL;
		pthread_cond_broadcast(&thread->changed);
	}
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

int writer_start(struct writer_thread *thread, struct tare_writer *writer, struct tare_err *err)
{
	*thread = (struct writer_thread){.writer = writer};
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->changed, NULL);
	int status = pthread_create(&thread->thread, NULL, writer_main, thread);
	if (status != 0)
		return tare_fail_errno(err, status, "cannot start the writer thread");
	thread->running = true;
	return 0;
}

/* With the lock held: until idle; then how it went. */
static int wait_idle(struct writer_thread *thread, struct tare_err *err)
{
	while (thread->job)
		pthread_cond_wait(&thread->changed, &thread->lock);
	if (!thread->failed)
		return 0;
	if (err)
		*err = thread->err;
	return -1;
}

int writer_submit(struct writer_thread *thread, struct writer_job *job, struct tare_err *err)
{
	pthread_mutex_lock(&thread->lock);
	int status = wait_idle(thread, err);
	if (status == 0) {
		thread->job = job;
		pthread_cond_broadcast(&thread->changed);
	}
	pthread_mutex_unlock(&thread->lock);
	if (status < 0)
		writer_job_free(job, false);
	return status;
}

int writer_wait(struct writer_thread *thread, struct tare_err *err)
{
	pthread_mutex_lock(&thread->lock);
	int status = wait_idle(thread, err);
	pthread_mutex_unlock(&thread->lock);
	return status;
}

int writer_stop(struct writer_thread *thread, struct tare_err *err)
{
	if (!thread->running)
		return 0;
	pthread_mutex_lock(&thread->lock);
	thread->stopping = true;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->lock);
	pthread_join(thread->thread, NULL);
	thread->running = false;
	pthread_mutex_destroy(&thread->lock);
	pthread_cond_destroy(&thread->changed);
	if (!thread->failed)
		return 0;
	if (err)
		*err = thread->err;
	return -1;
}
