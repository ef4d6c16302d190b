import { layoutParameter, type TerminalLayout } from '#lib/terminal/layout/layout.ts'
import { paths } from './paths.ts'

/** `full` hides the console's frame. */
export const terminalsPath = (id: string, layout: TerminalLayout, full = false) =>
  paths.devbox(id, 'terminal') + `${layoutParameter(layout)}${full ? '&full=1' : ''}`.replace(/^&/, '?')
