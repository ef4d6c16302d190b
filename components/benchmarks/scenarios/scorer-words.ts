import type { Scorer } from '#lib/contract/scenarios.ts'
import { isHarborVerifier, scorerKind } from './scorer-kind.ts'

export interface ScorerWords {
  kind: string
  /** What gives the score. */
  means: string
  /** Parts of it, each with what it is. */
  parts: readonly { label: string; text: string }[]
}

/** A scorer in words; one of a type that is not known is shown as it is. */
export const scorerWords = (scorer: Scorer | null | undefined, name = ''): ScorerWords => {
  if (scorer && isHarborVerifier({ name, scorer }))
    return {
      kind: 'Harbor verifier',
      means: 'the rewards it writes to /logs/verifier/reward.json or reward.txt, whatever its exit status',
      parts: [{ label: 'Command', text: '/tests/test.sh' }],
    }
  switch (scorer?.type) {
    case 'command_scorer':
      return {
        kind: scorerKind(scorer),
        means: '1 when the command exits with status 0, else 0',
        parts: partsOf([['Command', scorer.command]]),
      }
    case 'bash_script_scorer':
      return {
        kind: scorerKind(scorer),
        means: 'the number in the line score=… of its output',
        parts: partsOf([['Script', scorer.bash_script]]),
      }
    case 'python_script_scorer':
      return {
        kind: scorerKind(scorer),
        means: 'the number it prints',
        parts: partsOf([
          ['Script', scorer.python_script],
          ['Requirements', scorer.requirements_contents],
          ['Python version', scorer.python_version_constraint],
        ]),
      }
    case 'test_based_scorer':
      return {
        kind: scorerKind(scorer),
        means: '1 when the command exits with status 0, else 0',
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
        means: '1 when the pattern is found',
        parts: partsOf([
          ['Pattern', scorer.pattern],
          ['Directory', scorer.search_directory],
          ['Language', scorer.lang],
        ]),
      }
    case 'custom_scorer':
      return {
        kind: scorerKind(scorer),
        means: 'what the registered scorer of that type gives',
        parts: partsOf([['Parameters', scorer.scorer_params == null ? null : asText(scorer.scorer_params)]]),
      }
    default:
      return unknownWords(scorer)
  }
}

const unknownWords = (scorer: unknown): ScorerWords => {
  return {
    kind: scorerKind(scorer),
    means: 'a scorer this console does not know',
    parts: scorer == null ? [] : [{ label: 'As it is', text: asText(scorer) }],
  }
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

const partsOf = (parts: readonly [label: string, text: string | null | undefined][]): ScorerWords['parts'] =>
  parts.flatMap(([label, text]) => (text ? [{ label, text }] : []))
