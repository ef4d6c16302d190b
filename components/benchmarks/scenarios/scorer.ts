import type { Scenario, Scorer } from '#lib/contract/scenarios.ts'

const kinds: Readonly<Record<Exclude<Scorer['type'], 'custom_scorer'>, string>> = {
  command_scorer: 'Command',
  bash_script_scorer: 'Bash script',
  python_script_scorer: 'Python script',
  test_based_scorer: 'Tests',
  ast_grep_scorer: 'ast-grep pattern',
}

type ScoringFunction = Scenario['scoring_contract']['scoring_function_parameters'][number]

/** Harbor's verifier script, whose reward file counts instead of its exit status. */
export const isHarborVerifier = ({ name, scorer }: Pick<ScoringFunction, 'name' | 'scorer'>): boolean =>
  name === 'verifier' && scorer?.type === 'command_scorer' && scorer.command === '/tests/test.sh'

const scorerKind = (scorer: unknown): string => {
  const { type, custom_scorer_type } = (scorer ?? {}) as { type?: unknown; custom_scorer_type?: unknown }
  if (typeof type !== 'string') return 'Unknown'
  if (type === 'custom_scorer') return `Custom: ${custom_scorer_type}`
  return Object.hasOwn(kinds, type) ? kinds[type as keyof typeof kinds] : type
}

export const verifierKinds = ({ scoring_contract }: Scenario): string[] => [
  ...new Set(
    scoring_contract.scoring_function_parameters.map((each) =>
      isHarborVerifier(each) ? 'Harbor verifier' : scorerKind(each.scorer),
    ),
  ),
]

export interface ScorerDescription {
  kind: string
  rule: string
  parts: readonly { label: string; text: string }[]
}

export const describeScorer = (scorer: Scorer | null | undefined, name = ''): ScorerDescription => {
  if (scorer && isHarborVerifier({ name, scorer }))
    return {
      kind: 'Harbor verifier',
      rule: 'rewards from /logs/verifier/reward.json or reward.txt, whatever the exit status',
      parts: [{ label: 'Command', text: '/tests/test.sh' }],
    }
  switch (scorer?.type) {
    case 'command_scorer':
      return {
        kind: scorerKind(scorer),
        rule: '1 if the command exits with status 0, else 0',
        parts: partsOf([['Command', scorer.command]]),
      }
    case 'bash_script_scorer':
      return {
        kind: scorerKind(scorer),
        rule: 'the number in the output line score=…',
        parts: partsOf([['Script', scorer.bash_script]]),
      }
    case 'python_script_scorer':
      return {
        kind: scorerKind(scorer),
        rule: 'the number it prints',
        parts: partsOf([
          ['Script', scorer.python_script],
          ['Requirements', scorer.requirements_contents],
          ['Python version', scorer.python_version_constraint],
        ]),
      }
    case 'test_based_scorer':
      return {
        kind: scorerKind(scorer),
        rule: '1 if the command exits with status 0, else 0',
        parts: partsOf([
          ['Command', scorer.test_command],
          ...(scorer.test_files ?? []).map(({ file_path, file_contents }): [string, string] => [
            file_path || 'Unnamed file',
            file_contents ?? '',
          ]),
        ]),
      }
    case 'ast_grep_scorer':
      return {
        kind: scorerKind(scorer),
        rule: '1 if the pattern is found',
        parts: partsOf([
          ['Pattern', scorer.pattern],
          ['Directory', scorer.search_directory],
          ['Language', scorer.lang],
        ]),
      }
    case 'custom_scorer':
      return {
        kind: scorerKind(scorer),
        rule: 'the result of the registered scorer of this type',
        parts: partsOf([['Parameters', scorer.scorer_params == null ? null : asText(scorer.scorer_params)]]),
      }
    default:
      return {
        kind: scorerKind(scorer),
        rule: 'unknown scorer type',
        parts: scorer == null ? [] : [{ label: 'Raw JSON', text: asText(scorer) }],
      }
  }
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

const partsOf = (parts: readonly [label: string, text: string | null | undefined][]): ScorerDescription['parts'] =>
  parts.flatMap(([label, text]) => (text ? [{ label, text }] : []))
