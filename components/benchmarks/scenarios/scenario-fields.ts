import type { ExportFields } from '#lib/browser/lists/export.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { verifierKinds } from './scorer.ts'

/** What stands in a file for each column of the list of scenarios. */
export const scenarioFields: ExportFields<Scenario> = {
  name: { name: 'name', value: ({ name }) => name },
  verifier: { name: 'scorers', value: (scenario) => verifierKinds(scenario).join(', ') },
  status: { name: 'status', value: ({ status }) => status },
  metadata: { name: 'metadata', value: ({ metadata }) => metadata },
  id: { name: 'id', value: ({ id }) => id },
}
