import { spawn } from 'node:child_process'

/**
 * The whole proof, one step after the other: types, lint, unit tests, build, journeys in a real browser.
 * Ends with the one line `N passed, N failed` over all test runners; a step that fails without counting is one failure.
 */
const steps = [
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.check.json']],
  ['lint', ['biome', 'ci', '--error-on-warnings', '.']],
  ['unused code', ['knip']],
  ['unit tests', ['vitest', 'run']],
  ['build', ['next', 'build']],
  ['journeys', ['playwright', 'test']],
] as const

const only = process.argv.includes('--check') ? steps.slice(0, 4) : steps

const run = (command: readonly string[]) =>
  new Promise<{ ok: boolean; output: string }>((resolve) => {
    const child = spawn('npx', ['--no-install', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk)
      // Only the end matters: that is where a runner counts.
      output = (output + chunk).slice(-4096)
    })
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })

const total = { passed: 0, failed: 0, skipped: 0 }
for (const [name, command] of only) {
  console.log(`\n> ${name}`)
  const { ok, output } = await run(command)
  const counted = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1)
  total.passed += Number(counted?.[1] ?? 0)
  total.failed += Number(counted?.[2] ?? 0)
  total.skipped += Number(counted?.[3] ?? 0)
  if (!ok && Number(counted?.[2] ?? 0) === 0) total.failed++
  // Journeys against a build that does not exist would only repeat its failure.
  if (!ok && name === 'build') break
}
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
