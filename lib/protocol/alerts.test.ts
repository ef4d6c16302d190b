import { describe, expect, it } from 'vitest'
import { alertText, nameInText } from './alerts.ts'
import { alertOf } from './testing.ts'

const alert = alertOf({ devbox_name: 'worker', deadline_ms: 1_700_000_000_000, first_heard_ms: 1, raised_ms: 1 })

describe('the text of an alert for a chat', () => {
  const textOf = (devbox_name: string | null) => alertText({ ...alert, devbox_name }, 'https://deck.example/a')

  it('names the devbox, or its id where it has no name', () => {
    expect(textOf('worker')).toBe(
      'Devbox worker (dbx_1) will be evicted at 2023-11-14T22:13:20Z. It will be suspended: processes end, the disk stays. https://deck.example/a',
    )
    for (const none of [null, '', ' \u202e ']) expect(textOf(none)).toMatch(/^Devbox dbx_1 will be evicted/)
  })

  it('contains no mentions, links or line breaks, whatever the name', () => {
    expect(textOf('<!channel> <https://evil.example|ours>\n\u202Eabc')).toMatch(
      /^Devbox ‹!channel› ‹https:\/\/evil\.example\|ours› abc \(dbx_1\) will be evicted/,
    )
  })
})

it('cuts a long name between two characters, and leaves names of every script as they are', () => {
  expect([...nameInText('🦊'.repeat(500))]).toEqual([...'🦊'.repeat(99), '…'])
  for (const name of ['שלום עולם', 'naïve ☕', '👩‍💻']) expect(nameInText(name)).toBe(name)
})
