import { expect, it } from 'vitest'
import { personLabel, personOf } from './person.ts'

const account = { id: 'acc_1', name: 'Team' }
const asTyped = (value: string) => personOf({}, (name) => (name === 'cookie' ? `a=b; devdeck-name=${value}` : null))

it.each([
  ['Ada', 'Ada (unverified)'],
  ['  Ada \r\n\t Lovelace\u2028', 'Ada Lovelace (unverified)'],
  ['\u202eadA\u2066\u200b\u0000', 'adA (unverified)'],
  ['<b>Ada</b> 👩', '<b>Ada</b> 👩 (unverified)'],
  ['👩'.repeat(5_000), `${'👩'.repeat(60)} (unverified)`],
  ['\u200f \u202e\n', null],
  ['', null],
])('reads the typed name %j as %j', (typed, label) => {
  expect(asTyped(encodeURIComponent(typed.toWellFormed()))).toBe(label)
})

it('ignores an unreadable name', () => {
  expect(asTyped('%E0%A4%A')).toBeNull()
})

it('prefers the name from single sign-on, and falls back to the account', () => {
  const cookie = () => 'devdeck-name=Mallory'
  expect(personLabel({ person: 'ada@example.com', account }, cookie)).toBe('ada@example.com')
  expect(personLabel({ account }, cookie)).toBe('Mallory (unverified)')
  expect(personLabel({ account }, () => null)).toBe('Team')
})
