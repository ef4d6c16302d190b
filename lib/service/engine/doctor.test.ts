import { expect, it } from 'vitest'
import { runCommand } from '#lib/service/testing/process.ts'
import { places } from './cgroup.ts'
import { describeIsolation } from './doctor.ts'

it('tells what this machine allows', async () => {
  const { bubblewrap, limits, network, trials } = await describeIsolation()
  expect(bubblewrap.problem === undefined).toBe(bubblewrap.works)
  expect(network.includes('of its own')).toBe(bubblewrap.works)
  expect(trials.includes('system')).toBe(bubblewrap.works)
  const [place] = places()
  expect(limits.kind).toBe(place ? `cgroup${place.version}` : 'rlimit')
  for (const { controllers } of places()) for (const one of controllers) expect(limits.detail).toContain(one)
})

it('finds the same in the command, whose umask closes its files to others', async () => {
  const { trials } = await describeIsolation()
  const { stdout } = await runCommand(['doctor', '--data-dir', '/nonexistent/devdeck']).ended
  const words = /^(.*?)(?:; Python|\(|$)/.exec(trials)?.[1] ?? ''
  expect(stdout).toContain(words)
})
