import { killRounds } from '#lib/service/testing/kill.ts'
import { checkAccessibility } from './axe.ts'
import { manyDevboxes } from './devboxes.ts'
import { soakFaults } from './faults.ts'
import { loseWrites } from './lost-writes.ts'
import { streamOutput } from './output.ts'
import { soakReceivers } from './receivers.ts'
import { soakSlowDisk } from './slow-disk.ts'
import { soakStorm } from './storm.ts'
import { soakSwarm } from './swarm.ts'
import { soakSwarmJob } from './swarm-job.ts'
import { soakTeam } from './team.ts'
import { soakUpstream } from './upstream.ts'

/**
 * Long or nondeterministic tests. Exits with 1 after data loss, corruption, leftovers, memory growth or slow responses.
 * - `npm run soak [-- ROUNDS]` streams 1 GB of output, creates 200 devboxes twice, and loses writes and kills the
 *   service under load (ROUNDS times, default 100)
 * - `-- swarm [SECONDS]` runs commands in 60 devboxes on three nodes (default 300 s)
 * - `-- swarm-job` loses a node and kills the service during a job
 * - `-- storm` evicts 5,000 devboxes at once
 * - `-- faults [SECONDS]` stops the service of 50 consoles, and measures a page and a download that are read too slowly
 *   (default 60 s each)
 * - `-- receivers` kills a console while it sends alerts
 * - `-- slow-disk` times reads during writes on a disk that takes 200 ms per flush
 * - `-- team [--people 30] [--minutes 20]` lets people use a console at once, then kills it, restarts the service and
 *   fills its disk; needs a build
 * - `-- axe` checks every page, dialog and menu for accessibility, in both themes at three widths
 * - `-- upstream` walks every page, dialog, menu and main action against a service written without the contract: plain,
 *   with 400 ms of latency, and with 5 % of calls failing on top
 */
const [word = '100', given] = process.argv.slice(2)
const seconds = Number(given ?? (word === 'swarm' ? 300 : 60))
const rounds = Number(word)

const problems: string[] = []
const soakService = async () => {
  const devboxes = 200
  const maxGrownMiB = 128

  const output = await streamOutput(1000)
  console.log(
    `1 GB of output: ${output.seconds.toFixed(1)} s, memory grew by ${output.grownMiB.toFixed(0)} MiB at most`,
  )
  if (output.grownMiB > maxGrownMiB)
    problems.push(`the memory grew by ${output.grownMiB.toFixed(0)} MiB with 1 GB of output`)

  const many = await manyDevboxes(devboxes)
  console.log(`${devboxes} devboxes after ${devboxes} others: memory grew by ${many.grownMiB.toFixed(0)} MiB`)
  problems.push(...many.problems)

  const lossy = await loseWrites(3)
  console.log(
    lossy
      ? `A disk that loses writes: ${lossy.acknowledged} events acknowledged, ${lossy.problems.length} problems`
      : 'A disk that loses writes: not tried, this user may not mount one',
  )
  problems.push(...(lossy?.problems ?? []))

  console.log('round  acknowledged  lost  broken  running  orphans  slowest start')
  const report = await killRounds({
    rounds,
    isolation: 'auto',
    onRound: (round, { acknowledged, lost, broken, running, orphans, slowestStartMs }) => {
      const cells = [
        round + 1,
        acknowledged,
        lost.length,
        broken.length,
        running,
        orphans.length,
        `${slowestStartMs} ms`,
      ]
      const widths = [5, 14, 6, 8, 9, 9, 15]
      console.log(cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join(''))
    },
  })
  console.log(`seed ${report.seed}`)
  problems.push(...report.lost, ...report.broken, ...report.orphans.map((each) => `process ${each} was left`))
}

const soakCluster = async () => {
  const { commands, rate, perNode, createSeconds, oursMs, dockerMs, problems: found } = await soakSwarm(seconds)
  console.log(`60 devboxes in ${createSeconds.toFixed(0)} s: ${JSON.stringify(perNode)}`)
  const [ours, docker] = [oursMs.toFixed(0), dockerMs.toFixed(0)]
  console.log(
    `${commands} commands, ${rate.toFixed(1)} per second: p99 of execute_sync ${ours} ms, of docker exec ${docker} ms`,
  )
  problems.push(...found)
}

const soakJob = async () => {
  const { seconds, warnings, problems: found } = await soakSwarmJob()
  console.log(`90 trials in ${seconds.toFixed(0)} s. ${warnings.join('. ')}`)
  problems.push(...found)
}

const report = async (soaked: Promise<{ lines: string[]; problems: string[] }>) => {
  const { lines, problems: found } = await soaked
  for (const line of lines) console.log(line)
  problems.push(...found)
}

const soaks: Record<string, () => Promise<void>> = {
  swarm: soakCluster,
  'swarm-job': soakJob,
  storm: () => report(soakStorm()),
  faults: () => report(soakFaults(seconds)),
  receivers: () => report(soakReceivers()),
  'slow-disk': () => report(soakSlowDisk()),
  team: () => report(soakTeam(process.argv.slice(3))),
  upstream: async () => {
    for (const faults of [
      { latencyMs: 0, errors: 0 },
      { latencyMs: 400, errors: 0 },
      { latencyMs: 400, errors: 5 },
    ])
      problems.push(...(await soakUpstream(faults, console.log)))
  },
  axe: async () => void problems.push(...(await checkAccessibility(console.log))),
}
const soak = soaks[word] ?? (Number.isInteger(rounds) && rounds > 0 ? soakService : undefined)
if (!soak) {
  console.error(
    'Usage: npm run soak [-- ROUNDS | swarm [SECONDS] | swarm-job | storm | faults [SECONDS] | receivers | slow-disk | team | axe | upstream]',
  )
  process.exit(1)
}
await soak()
for (const problem of problems.slice(0, 50)) console.error(problem)
console.log(problems.length === 0 ? 'Nothing was lost, damaged or left' : `${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)
