import { constants } from 'node:os'

export const signalExitStatus = (name: NodeJS.Signals): number => 128 + constants.signals[name]
