import { expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { Scenario } from '#lib/contract/scenarios.ts'
import { describeScorer } from './scorer.ts'

const describeAll = (...scorers: unknown[]) =>
  readLeniently(Scenario, {
    id: 'scn_1',
    scoring_contract: { scoring_function_parameters: scorers.map((scorer) => ({ name: 'n', weight: 1, scorer })) },
  }).scoring_contract.scoring_function_parameters.map(({ scorer }) => describeScorer(scorer))

it('describes how the score is computed, with all files', () => {
  const [command, tests, custom] = describeAll(
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

// Harbor ignores the exit status of its verifier.
it('describes the Harbor verifier', () => {
  const scorer = { type: 'command_scorer' as const, command: '/tests/test.sh' }
  expect(describeScorer(scorer, 'tests').rule).toBe('1 if the command exits with status 0, else 0')
  expect(describeScorer(scorer, 'verifier')).toMatchObject({
    kind: 'Harbor verifier',
    rule: 'rewards from /logs/verifier/reward.json or reward.txt, whatever the exit status',
  })
})

it('shows unknown scorers as JSON', () => {
  const [unknown, nothing, empty] = describeAll({ type: 'llm_judge', model: 'm' }, null, {
    type: 'bash_script_scorer',
    bash_script: null,
  })
  expect(unknown).toMatchObject({ kind: 'llm_judge', parts: [{ label: 'Raw JSON' }] })
  expect(unknown?.parts[0]?.text).toContain('"model": "m"')
  expect(nothing).toMatchObject({ kind: 'Unknown', parts: [] })
  expect(empty).toMatchObject({ kind: 'Bash script', parts: [] })
})
