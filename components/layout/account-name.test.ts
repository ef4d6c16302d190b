import { expect, it } from 'vitest'
import { accountColors } from './account-name.tsx'

it('gives each account a color of its own, in any order', () => {
  const ids = ['acc_1', 'acc_2', 'acc_3', 'acc_4', 'acc_5']
  const colors = accountColors(ids)
  expect(new Set(colors.values()).size).toBe(5)
  expect(accountColors([...ids].reverse())).toEqual(colors)
})
