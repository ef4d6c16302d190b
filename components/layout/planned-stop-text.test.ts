import { expect, test } from 'vitest'
import { effectTexts, plannedStopTitle, shellUse, sinceText, workLabel } from './planned-stop-text.ts'

const stop = {
  since_ms: 1000,
  deadline_ms: 601_000,
  commands: 0,
  trials: 0,
  snapshots: 0,
  builds: 0,
  devboxes_restarting: 0,
  devboxes_staying: 0,
}

test('a planned stop names its deadline, until that has passed', () => {
  expect(plannedStopTitle(stop, 31_000)).toBe(
    'The service restarts once running work has finished, at the latest in 09:30.',
  )
  expect(plannedStopTitle(stop, 601_000)).toBe('The service is restarting.')
  expect(sinceText(stop, 31_000)).toBe(
    'New devboxes, commands, jobs, snapshots and builds have been rejected for 30 s.',
  )
})

test('a planned stop says what it waits for, and what restarts or stays', () => {
  expect(effectTexts(stop)).toEqual([])
  expect(
    effectTexts({
      ...stop,
      commands: 1,
      shells: 2,
      trials: 12,
      scorings: 1,
      builds: 2,
      devboxes_restarting: 2,
      devboxes_staying: 1,
    }),
  ).toEqual([
    'Waiting for 1 command, 2 shells in use, 12 trials, 1 scoring, and 2 builds; anything still running at the deadline is interrupted.',
    '2 devboxes will restart with their disks; their shells end.',
    '1 devbox keeps running.',
  ])
  expect(effectTexts({ ...stop, devboxes_restarting: 1 })).toEqual([
    '1 devbox will restart with its disk; its shells end.',
  ])
})

test('running work has a label, even of an unknown kind, and a shell says why it counts', () => {
  expect(['trial', 'migration'].map((kind) => workLabel({ kind, id: 'x' }))).toEqual(['Trial of', 'migration'])
  expect(shellUse({ kind: 'shell', id: 'main', program: 'vim' })).toBe('running vim')
  expect(shellUse({ kind: 'shell', id: 'main' })).toBe('used recently')
  expect(shellUse({ kind: 'command', id: 'x' })).toBeUndefined()
})
