import { parseDocument } from 'yaml'
import type { YamlProblem } from '../job-figures.ts'

/** What no reader of YAML takes, at its lines; what a job file may say the service knows. */
export const syntaxProblems = (text: string): YamlProblem[] =>
  text.trim() === ''
    ? []
    : parseDocument(text, { prettyErrors: true }).errors.map(({ message, linePos }) => ({
        line: linePos?.[0].line ?? null,
        text: message.split('\n')[0]?.replace(/:$/, '') ?? message,
      }))
