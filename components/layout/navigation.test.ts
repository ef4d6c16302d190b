import { expect, it } from 'vitest'
import { paths } from '#lib/browser/address/paths.ts'
import { nextShortcut, shortcutHelp } from '#lib/browser/frame/shortcuts.ts'
import { destinations } from './navigation.ts'

it.each(destinations)('$label is where its keys lead, and in the help', ({ href, keys: [leader, letter] }) => {
  const stroke = { command: false, alt: false, isTyping: false }
  const { state } = nextShortcut({ leaderAtMs: null }, { ...stroke, key: leader }, 1)
  const { action } = nextShortcut(state, { ...stroke, key: letter }, 2)
  expect(paths[action as 'overview']()).toBe(href)
  expect(shortcutHelp.map(({ keys }) => keys.join(' '))).toContain(`${leader} ${letter}`)
})
