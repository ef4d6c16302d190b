import { expectedAverages, killJob } from '#lib/service/testing/job-kill.ts'

const scenarios = 200
const attempts = 3
const concurrency = 2
const everyMs = 500
const reportEvery = 200

/**
 * Throughput of a large job with trivial trials. Kills the service halfway and checks every record read; throws if one
 * is wrong.
 */
export const benchJobs = async () => {
  const agents = expectedAverages.length
  console.log(
    `a job of ${scenarios} scenarios x ${agents} agents x ${attempts} attempts, ${concurrency} trials at once`,
  )
  const startMs = performance.now()
  let reported = 0
  const { job, trials, seconds, records, devboxes } = await killJob({
    scenarios,
    attempts,
    concurrency,
    everyMs,
    onProgress: (finished, total) => {
      if (finished < reported + reportEvery) return
      reported = finished - (finished % reportEvery)
      console.log(`  ${reported} of ${total} after ${((performance.now() - startMs) / 1000).toFixed(0)} s`)
    },
  })
  const averages = job.benchmark_outcomes?.map(({ average_score }) => average_score)
  if (job.state !== 'completed' || devboxes > 0 || JSON.stringify(averages) !== JSON.stringify(expectedAverages))
    throw new Error(`The job ended ${job.state} with ${JSON.stringify(averages)}, with ${devboxes} devboxes running`)
  console.log(
    `  ${trials} trials in ${seconds.toFixed(0)} s, ${(trials / seconds).toFixed(1)}/s; ${records} records right`,
  )
}
