import { expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { Scenario } from '#lib/contract/scenarios.ts'
import { scorerWords } from './scorer-words.ts'

/** The scorers of a scenario as a page reads it, whatever the service says they are. */
const wordsOf = (...scorers: unknown[]) =>
  readLeniently(Scenario, {
    id: 'scn_1',
    scoring_contract: { scoring_function_parameters: scorers.map((scorer) => ({ name: 'n', weight: 1, scorer })) },
  }).scoring_contract.scoring_function_parameters.map(({ scorer }) => scorerWords(scorer))

it('shows what gives the score, with every file and script of it', () => {
  const [command, tests, custom] = wordsOf(
    { type: 'command_scorer', command: 'make test' },
    {
      type: 'test_based_scorer',
      test_command: 'pytest',
      test_files: [{ file_path: 'a.py', file_contents: 'assert 1' }],
    },
    { type: 'custom_scorer', custom_scorer_type: 'judge', scorer_params: { strict: true } },
  )
  expect(command).toMatchObject({ kind: 'Command', parts: [{ label: 'Command', text: 'make test' }] })
  expect(tests?.parts).toEqual([
    { label: 'Command', text: 'pytest' },
    { label: 'a.py', text: 'assert 1' },
  ])
  expect(custom).toMatchObject({ kind: 'Custom: judge', parts: [{ text: '{\n  "strict": true\n}' }] })
})

it('shows a scorer it does not know as it is, and says that there is none', () => {
  const [unknown, nothing, empty] = wordsOf({ type: 'llm_judge', model: 'm' }, null, {
    type: 'bash_script_scorer',
    bash_script: null,
  })
  expect(unknown).toMatchObject({ kind: 'llm_judge', parts: [{ label: 'As it is' }] })
  expect(unknown?.parts[0]?.text).toContain('"model": "m"')
  expect(nothing).toMatchObject({ kind: 'Unknown', parts: [] })
  expect(empty).toMatchObject({ kind: 'Bash script', parts: [] })
})
