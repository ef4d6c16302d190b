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

// The page said "1 when the command exits with status 0" of a script whose exit status Harbor ignores.
it('states the rule of Harbor for the verifier of a Harbor task', () => {
  const scorer = { type: 'command_scorer' as const, command: '/tests/test.sh' }
  expect(scorerWords(scorer, 'tests').means).toBe('1 when the command exits with status 0, else 0')
  expect(scorerWords(scorer, 'verifier')).toMatchObject({
    kind: 'Harbor verifier',
    means: 'the rewards it writes to /logs/verifier/reward.json or reward.txt, whatever its exit status',
  })
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
