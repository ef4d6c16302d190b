import { spawn } from 'node:child_process'

type Step = readonly [name: string, command: readonly string[]]

/**
 * Runs all checks, the build and all tests; the steps of a group run in parallel. Ends with the failed tests and the
 * total `N passed, N failed`; a failed step without counts is one failure.
 */
const checks: readonly Step[] = [
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.check.json']],
  ['lint', ['biome', 'ci', '--error-on-warnings', '.']],
  ['unused code', ['knip']],
]
const unit: Step = ['unit tests', ['vitest', 'run']]
const build: Step = ['build', ['node', 'scripts/build.ts']]
const journeys: Step = ['journeys', ['playwright', 'test']]

const groups = process.argv.includes('--check') ? [checks, [unit]] : [checks, [unit, build], [journeys]]

/** Prints a step's output: of the first step as it arrives, of the others when they end. */
const run = ([name, command]: Step, isFirst: boolean) =>
  new Promise<{ name: string; ok: boolean; output: string }>((resolve) => {
    const startedAtMs = Date.now()
    const child = spawn('npx', ['--no-install', ...command], {
      stdio: ['ignore', 'pipe', isFirst ? 'inherit' : 'pipe'],
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    })
    if (isFirst) console.log(`\n> ${name}`)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        if (isFirst) process.stdout.write(chunk)
        // Only the end of printed output matters: it contains the counts.
        output = isFirst ? (output + chunk).slice(-4096) : output + chunk
      })
    child.on('close', (code) => {
      if (!isFirst) console.log(`\n> ${name}\n${output}`)
      console.log(`${name}: ${Math.round((Date.now() - startedAtMs) / 1000)} s`)
      resolve({ name, ok: code === 0, output })
    })
  })

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
for (const group of groups) {
  const results = await Promise.all(group.map((step, index) => run(step, index === 0)))
  for (const { name, ok, output } of results) {
    const counted = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1)
    total.passed += Number(counted?.[1] ?? 0)
    total.failed += Number(counted?.[2] ?? 0)
    total.skipped += Number(counted?.[3] ?? 0)
    failures.push(...(output.match(/^failed: .*$/gm) ?? []))
    if (!ok && Number(counted?.[2] ?? 0) === 0) {
      total.failed++
      failures.push(`failed: ${name}`)
    }
  }
  // Without a build, every journey would fail.
  if (results.some(({ name, ok }) => name === 'build' && !ok)) break
}
if (failures.length > 0) console.log(`\n${failures.join('\n')}`)
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
