import { expect, it } from 'vitest'
import { describeExit } from './exit-status.ts'

it('describes the exit status and its usual meaning', () => {
  expect(describeExit(0, '')).toBe('The shell has ended with exit status 0: no error')
  expect(describeExit(3, 'The shell ended with 3')).toBe('The shell has ended with exit status 3')
  expect(describeExit(127, '')).toBe('The shell has ended with exit status 127: the last command was not found')
  expect(describeExit(130, '')).toBe('The shell has ended with exit status 130: interrupted (SIGINT)')
  expect(describeExit(200, '')).toBe('The shell has ended with exit status 200')
})

it('uses the service’s reason when there is no status', () => {
  expect(describeExit(null, 'The shell was killed by signal 9')).toBe('The shell was killed by signal 9')
  expect(describeExit(null, '')).toBe('The shell has ended')
})
