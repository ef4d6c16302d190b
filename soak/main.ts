import { killRounds } from '#lib/service/testing-kill.ts'

/**
 * What takes too long for the tests. `npm run soak [-- ROUNDS]` kills the service that often, 100 times unless told
 * otherwise; exits with 1 when anything acknowledged was lost, a database was damaged or a process was left.
 */
const rounds = Number(process.argv[2] ?? 100)
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error('Usage: npm run soak [-- ROUNDS]')
  process.exit(1)
}

console.log('round  acknowledged  lost  broken  running  orphans  slowest start')
const report = await killRounds({
  rounds,
  isolation: 'auto',
  onRound: (round, { acknowledged, lost, broken, running, orphans, slowestStartMs }) => {
    const cells = [round + 1, acknowledged, lost.length, broken.length, running, orphans.length, `${slowestStartMs} ms`]
    const widths = [5, 14, 6, 8, 9, 9, 15]
    console.log(cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join(''))
  },
})
const problems = [...report.lost, ...report.broken, ...report.orphans.map((each) => `process ${each} was left`)]
for (const problem of problems) console.error(problem)
console.log(problems.length === 0 ? 'Nothing was lost, damaged or left' : `${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)
