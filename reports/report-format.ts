// The names of the formats a report comes in, apart from the code that draws them (formats.ts), which brings a DOM with it.

export const REPORT_FORMATS = ['md', 'html', 'junit', 'tensorboard', 'csv', 'prometheus', 'github'] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** What a ladder leaves in its run folder; the others are one command away. */
export const USUAL_FORMATS: readonly ReportFormat[] = ['md', 'html', 'junit', 'tensorboard'];
