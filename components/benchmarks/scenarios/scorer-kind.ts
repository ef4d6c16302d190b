import type { Scenario, Scorer } from '#lib/contract/scenarios.ts'

const kinds: Readonly<Record<Exclude<Scorer['type'], 'custom_scorer'>, string>> = {
  command_scorer: 'Command',
  bash_script_scorer: 'Bash script',
  python_script_scorer: 'Python script',
  test_based_scorer: 'Tests',
  ast_grep_scorer: 'ast-grep pattern',
}

type ScoringFunction = Scenario['scoring_contract']['scoring_function_parameters'][number]

/** Harbor's verifier: a script whose reward file counts, whatever its exit status is. */
export const isHarborVerifier = ({ name, scorer }: Pick<ScoringFunction, 'name' | 'scorer'>): boolean =>
  name === 'verifier' && scorer?.type === 'command_scorer' && scorer.command === '/tests/test.sh'

/** What a scorer is called; one of a type that is not known by that type. */
export const scorerKind = (scorer: unknown): string => {
  const { type, custom_scorer_type } = (scorer ?? {}) as { type?: unknown; custom_scorer_type?: unknown }
  if (typeof type !== 'string') return 'Unknown'
  if (type === 'custom_scorer') return `Custom: ${custom_scorer_type}`
  return Object.hasOwn(kinds, type) ? kinds[type as keyof typeof kinds] : type
}

/** The kinds of scorers a scenario has, each once. */
export const verifierKinds = ({ scoring_contract }: Scenario): string[] => [
  ...new Set(
    scoring_contract.scoring_function_parameters.map((each) =>
      isHarborVerifier(each) ? 'Harbor verifier' : scorerKind(each.scorer),
    ),
  ),
]
