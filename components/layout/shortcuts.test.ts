import { expect, it } from 'vitest'
import { destinations } from './navigation.ts'
import { allShortcuts, type Binding, destinationKeys, leaderTimeoutMs, nextShortcut } from './shortcuts.ts'

const bindings: Binding[] = [
  { keys: 'ctrl+k', action: 'palette' },
  { keys: '?', action: 'help' },
  { keys: '/', action: 'filter' },
  ...destinations.map((each) => ({ keys: destinationKeys(each, {}), action: { href: each.href } })),
]

const press = (keys: readonly string[], { isTyping = false, gapMs = 100, bound = bindings } = {}) => {
  let leader: Parameters<typeof nextShortcut>[0] = null
  return keys.map((keys, index) => {
    const next = nextShortcut(leader, { keys, isTyping }, bound, index * gapMs)
    leader = next.leader
    return next.action
  })
}

it.each(destinations)('$label opens with its shortcut, which the help lists', ({ href, keys }) => {
  expect(press(keys)[1]).toMatchObject({ href })
  expect(allShortcuts(destinations).map((each) => each.keys)).toContain(keys.join(' '))
})

it('forgets the first key after a timeout and after any other key', () => {
  expect(press(['g', 'd'], { gapMs: leaderTimeoutMs + 1 })).toEqual([null, null])
  expect(press(['g', 'x', 'd'])).toEqual([null, null, null])
})

it('only handles combinations with Ctrl while the user types', () => {
  expect(press(['/', '?', 'g', 'd'], { isTyping: true })).toEqual([null, null, null, null])
  expect(press(['ctrl+k'], { isTyping: true })).toEqual(['palette'])
})

it('uses chosen keys', () => {
  const [first] = destinations
  if (!first) throw new Error('no destination')
  const keys = destinationKeys(first, { [`go ${first.href}`]: 'h' })
  expect(press(['h'], { bound: [{ keys, action: { href: first.href } }] })).toEqual([{ href: first.href }])
  // Switched off.
  expect(press(['h'], { bound: [{ keys: '', action: 'help' }] })).toEqual([null])
})
