import { layoutParameter, type TerminalLayout } from '#lib/terminal/layout/layout.ts'
import { paths } from './paths.ts'

/** The address of a devbox's terminals, apart from `paths` as few pages need layouts. `full` leaves the console's frame out. */
export const terminalsPath = (id: string, layout: TerminalLayout, full = false) =>
  `${paths.devbox(id, 'terminal')}${layoutParameter(layout)}${full ? '&full=1' : ''}`
