import { expect, it } from 'vitest'
import { keyBytes } from './keys.ts'

const plain = { ctrl: false, alt: false }
const ctrl = { ctrl: true, alt: false }
const alt = { ctrl: false, alt: true }

it.each([
  ['ArrowUp', plain, false, '\x1b[A'],
  ['ArrowUp', plain, true, '\x1bOA'],
  ['PageUp', plain, false, '\x1b[5~'],
  ['PageDown', { ctrl: true, alt: true }, false, '\x1b[6;7~'],
  ['Escape', plain, false, '\x1b'],
  ['Tab', alt, false, '\x1b\t'],
  ['c', ctrl, false, '\x03'],
  [' ', ctrl, false, '\0'],
  ['?', ctrl, false, '\x7f'],
  ['d', { ctrl: true, alt: true }, false, '\x1b\x04'],
  ['ä', ctrl, false, 'ä'],
  ['x', plain, false, 'x'],
])('%s with %j, application mode %s', (key, modifiers, isApplication, bytes) => {
  expect(keyBytes(key, modifiers, isApplication)).toBe(bytes)
})
