/** sysexits.h EX_TEMPFAIL: what runs us should start us again. */
export const EXIT_RESTART = 75;
