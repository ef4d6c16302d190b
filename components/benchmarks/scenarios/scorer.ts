import type { Scenario, Scorer } from '#lib/contract/scenarios.ts'

type ScoringFunction = Scenario['scoring_contract']['scoring_function_parameters'][number]

const scorers: Readonly<Record<Scorer['type'], { kind: string; rule: string }>> = {
  command_scorer: { kind: 'Command', rule: '1 if the command exits with status 0, else 0' },
  bash_script_scorer: { kind: 'Bash script', rule: 'the number in the output line score=…' },
  python_script_scorer: { kind: 'Python script', rule: 'the number it prints' },
  test_based_scorer: { kind: 'Tests', rule: '1 if the command exits with status 0, else 0' },
  ast_grep_scorer: { kind: 'ast-grep pattern', rule: '1 if the pattern is found' },
  custom_scorer: { kind: 'Custom', rule: 'the result of the registered scorer of this type' },
}
const harborVerifier = {
  kind: 'Harbor verifier',
  rule: 'rewards from /logs/verifier/reward.json or reward.txt, whatever the exit status',
}

/** Harbor's verifier script, whose reward file counts instead of its exit status. */
export const isHarborVerifier = ({ name, scorer }: Pick<ScoringFunction, 'name' | 'scorer'>): boolean =>
  name === 'verifier' && scorer?.type === 'command_scorer' && scorer.command === '/tests/test.sh'

export const verifierKinds = ({ scoring_contract }: Scenario): string[] => [
  ...new Set(scoring_contract.scoring_function_parameters.map((each) => describeScorer(each.scorer, each.name).kind)),
]

interface ScorerDescription {
  kind: string
  rule: string
  parts: readonly { label: string; text: string }[]
}

export const describeScorer = (scorer: Scorer | null | undefined, name = ''): ScorerDescription => {
  if (!scorer) return { kind: 'Unknown', rule: 'unknown scorer type', parts: [] }
  if (!Object.hasOwn(scorers, scorer.type))
    return {
      kind: String(scorer.type),
      rule: 'unknown scorer type',
      parts: [{ label: 'Raw JSON', text: JSON.stringify(scorer, null, 2) }],
    }
  const { kind, rule } = isHarborVerifier({ name, scorer }) ? harborVerifier : scorers[scorer.type]
  return {
    kind: scorer.type === 'custom_scorer' ? `${kind}: ${scorer.custom_scorer_type}` : kind,
    rule,
    parts: partsOf(scorer).flatMap(([label, text]) => (text ? [{ label, text }] : [])),
  }
}

const partsOf = (scorer: Scorer): [label: string, text: string | null | undefined][] => {
  switch (scorer.type) {
    case 'command_scorer':
      return [['Command', scorer.command]]
    case 'bash_script_scorer':
      return [['Script', scorer.bash_script]]
    case 'python_script_scorer':
      return [
        ['Script', scorer.python_script],
        ['Requirements', scorer.requirements_contents],
        ['Python version', scorer.python_version_constraint],
      ]
    case 'test_based_scorer':
      return [
        ['Command', scorer.test_command],
        ...(scorer.test_files ?? []).map(({ file_path, file_contents }): [string, string] => [
          file_path || 'Unnamed file',
          file_contents ?? '',
        ]),
      ]
    case 'ast_grep_scorer':
      return [
        ['Pattern', scorer.pattern],
        ['Directory', scorer.search_directory],
        ['Language', scorer.lang],
      ]
    case 'custom_scorer':
      return [['Parameters', scorer.scorer_params == null ? null : JSON.stringify(scorer.scorer_params, null, 2)]]
  }
}
