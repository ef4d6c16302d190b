import { expect, it } from 'vitest'
import { destinations } from './navigation.ts'
import { type KeyStroke, leaderTimeoutMs, nextShortcut, type ShortcutState, shortcutHelp } from './shortcuts.ts'

const press = (keys: (string | Partial<KeyStroke>)[], gapMs = 100) => {
  let state: ShortcutState = { leaderAtMs: null }
  return keys.map((key, index) => {
    const given = typeof key === 'string' ? { key } : key
    const next = nextShortcut(state, { key: '', command: false, alt: false, isTyping: false, ...given }, index * gapMs)
    state = next.state
    return next.action
  })
}

it.each(destinations)('$label opens with its shortcut, which the help lists', ({ href, keys }) => {
  expect(press([...keys])[1]).toMatchObject({ href })
  expect(shortcutHelp(destinations).map((each) => each.keys.join(' '))).toContain(keys.join(' '))
})

it('forgets the g after a timeout and after any other key', () => {
  expect(press(['g', 'd'], leaderTimeoutMs + 1)).toEqual([null, null])
  expect(press(['g', 'x', 'd'])).toEqual([null, null, null])
})

it('only opens the palette while the user types', () => {
  expect(press(['/', '?', 'g', 'd'].map((key) => ({ key, isTyping: true })))).toEqual([null, null, null, null])
  expect(press([{ key: 'k', command: true, isTyping: true }])).toEqual(['palette'])
})

it('does not mistake keys for object properties', () => {
  expect(press(['constructor', 'g', 'toString'])).toEqual([null, null, null])
})
