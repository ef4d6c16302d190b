import { savePreference } from '#components/layout/save-preference.ts'
import { usualColumns, writeColumns } from '#lib/browser/address/columns/column-text.ts'
import type { ColumnChoice } from '#lib/browser/address/list-columns.ts'
import type { ChosenColumns } from './use-columns.ts'

export const choicesOf = ({ choices, list }: Pick<ChosenColumns, 'choices' | 'list'>): readonly ColumnChoice[] =>
  choices ?? usualColumns(list)

/** Shows other columns from now on, here and when this browser comes to the list again. */
export const keepColumns = (
  { list, show }: Pick<ChosenColumns, 'list' | 'show'>,
  next: readonly ColumnChoice[],
): void => {
  const text = writeColumns(next, list) ?? ''
  savePreference(list.cookie, text)
  show({ text, choices: text === '' ? null : next })
}
