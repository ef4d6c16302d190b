import { expect, test, vi } from 'vitest'
import { logChanges } from './log.ts'

// A full disk filled the log with a line every 2 seconds.
test('a repeated failure is logged once, and its end once', () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const log = logChanges('Could not store', 'Stored again')
  log.succeeded()
  for (let i = 0; i < 3; i++) log.failed(new Error('disk is full'))
  for (let i = 0; i < 3; i++) log.succeeded()
  log.failed(new Error('again'))
  const lines = written.mock.calls.map(([line]) => JSON.parse(String(line)))
  written.mockRestore()
  expect(lines.map(({ level, message, error }) => [level, message, error])).toEqual([
    ['error', 'Could not store', 'Error: disk is full'],
    ['info', 'Stored again', undefined],
    ['error', 'Could not store', 'Error: again'],
  ])
})
