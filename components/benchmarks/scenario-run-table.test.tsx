import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { ScenarioRunTable } from './scenario-run-table.tsx'

const textOf = (runs: object[]) =>
  renderToStaticMarkup(<ScenarioRunTable list={readLeniently(ScenarioRunList, { runs })} />).replace(/<[^>]*>/g, '|')

// All that had no id were attempts at one scenario, and one without a name as well was a link without a text.
it('takes scenario runs without the id of their scenario for attempts where their names are the same', () => {
  const run = (id: string, name: string) => ({ id, name, state: 'completed' })
  expect(textOf([run('scr_1', 'a'), run('scr_2', 'b')])).not.toMatch(/\d of 2/)
  expect(textOf([run('scr_1', 'a'), run('scr_2', 'a')])).toMatch(/2 of 2.*1 of 2/)
  expect(textOf([run('scr_1', ' ')])).toContain('Unnamed scenario')
})
