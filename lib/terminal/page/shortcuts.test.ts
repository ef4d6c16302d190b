import { expect, it } from 'vitest'
import { clipboardKey } from './shortcuts.ts'

const press = (keys: string, code = '') => {
  const parts = keys.split('+')
  const key = keys.endsWith('++') ? '+' : (parts.at(-1) ?? '')
  return {
    key: parts.includes('shift') && /^[a-z]$/.test(key) ? key.toUpperCase() : key,
    code,
    ctrlKey: parts.includes('ctrl'),
    shiftKey: parts.includes('shift'),
    altKey: parts.includes('alt'),
    metaKey: parts.includes('meta'),
  }
}
const meaning = (keys: string, has: { isMac?: boolean; hasSelection?: boolean } = {}, code?: string) =>
  clipboardKey(press(keys, code), { isMac: false, hasSelection: false, ...has })

it("leaves the shell's keys alone", () => {
  for (const keys of ['c', 'ctrl+c', 'ctrl+f', 'ctrl+shift+c', 'alt+f', 'Insert', 'ctrl+alt+c'])
    expect(meaning(keys), keys).toBeNull()
  for (const keys of ['ctrl+c', 'ctrl+v', 'ctrl+f', 'alt+c', 'meta+k', 'meta+c', 'ctrl+meta+f'])
    expect(meaning(keys, { isMac: true }), keys).toBeNull()
})

it('copies with Ctrl+C only with a selection', () => {
  expect(meaning('ctrl+c', { hasSelection: true })).toBe('copy')
  expect(meaning('ctrl+Insert')).toBe('copy')
  expect(meaning('meta+c', { isMac: true, hasSelection: true })).toBe('copy')
  // Ctrl+C stays an interrupt there.
  expect(meaning('ctrl+c', { isMac: true, hasSelection: true })).toBeNull()
})

it('uses the Latin letter on other layouts', () => {
  expect(meaning('ctrl+с', { hasSelection: true }, 'KeyC')).toBe('copy')
  expect(meaning('ctrl+м', {}, 'KeyV')).toBe('paste')
  // Dvorak: the typed letter counts, not the key's position.
  expect(meaning('ctrl+j', { hasSelection: true }, 'KeyC')).toBeNull()
})
