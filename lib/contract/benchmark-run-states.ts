// Apart from the run, so that a page of jobs does not download what a run is.
export const benchmarkRunStates = ['running', 'canceled', 'completed', 'failed'] as const
export type BenchmarkRunState = (typeof benchmarkRunStates)[number]
