import { expect, it } from 'vitest'
import { type KeyStroke, leaderTimeoutMs, nextShortcut, type ShortcutState } from './shortcuts.ts'

const strike = (keys: (string | Partial<KeyStroke>)[], gapMs = 100) => {
  let state: ShortcutState = { leaderAtMs: null }
  return keys.map((key, index) => {
    const given = typeof key === 'string' ? { key } : key
    const next = nextShortcut(state, { key: '', command: false, alt: false, isTyping: false, ...given }, index * gapMs)
    state = next.state
    return next.action
  })
}

it('goes to a page by g and a letter', () => {
  expect(strike(['g', 'd', 'g', 'a', 'g', 's', 'g', 'o'])).toEqual([
    null,
    'devboxes',
    null,
    'axons',
    null,
    'snapshots',
    null,
    'overview',
  ])
})

it('forgets the g after a while, and after any other key', () => {
  expect(strike(['g', 'd'], leaderTimeoutMs + 1)).toEqual([null, null])
  expect(strike(['g', 'x', 'd'])).toEqual([null, null, null])
})

it('does nothing while someone types, except open the palette', () => {
  expect(strike(['/', '?', 'g', 'd'].map((key) => ({ key, isTyping: true })))).toEqual([null, null, null, null])
  expect(strike([{ key: 'k', command: true, isTyping: true }])).toEqual(['palette'])
})

it('leaves the chords of the browser alone', () => {
  expect(
    strike([
      { key: '/', command: true },
      { key: 'd', command: true },
      { key: 'k', command: true, alt: true },
    ]),
  ).toEqual([null, null, null])
})

it('takes no key for a property every object has', () => {
  expect(strike(['constructor', 'g', 'toString'])).toEqual([null, null, null])
})
