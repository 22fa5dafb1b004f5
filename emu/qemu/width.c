#include "emu/qemu/width.h"

void width_init(struct width *w, uint32_t harts, uint32_t most, uint32_t fixed)
{
    uint32_t own = fixed < most ? fixed : most;

    *w = (struct width){.most = most, .fixed = fixed > 0 || most < 2, .pause = WIDTH_SLICE};
    w->epoch_ns = WIDTH_EPOCH_NS + (uint64_t)WIDTH_EPOCH_NS * harts / WIDTH_HARTS;
    w->stops_least = (uint64_t)harts * WIDTH_EPOCH_STOPS;
    w->weighs = !w->fixed;
    w->own = w->now = own > 0 ? own : 1;
}

void width_begin_with(struct width *w, uint32_t own)
{
    w->own = w->now = own;
    w->goes_down = true;
    w->fewer = 1; /* where nobody else uses the host */
}

/* Returns what is to be tried; 0: nothing. */
static uint32_t choose_other(const struct width *w, double density)
{
    bool pays = density >= WIDTH_STOPS_LEAST && (w->own > 1 || w->rate > WIDTH_FREE);
    uint32_t wider = pays && w->own < w->most ? 2 * w->own : 0, narrower = w->own / 2;

    if (wider > w->most)
        wider = w->most;
    return (w->goes_down && narrower > 0) || wider == 0 ? narrower : wider;
}

static void rest_until_trial(struct width *w, uint64_t now_ns)
{
    w->tried_ns = now_ns;
    w->trial_ns = now_ns + w->pause * w->epoch_ns;
    w->other = 0;
    w->now = w->own;
    w->weighs = false;
}

static void lengthen_pause(struct width *w)
{
    if (w->pause < WIDTH_PAUSE_MOST)
        w->pause *= WIDTH_LONGER;
}

static void end_trial(struct width *w, uint64_t now_ns, double rate)
{
    bool wider = w->other > w->own, better = wider ? rate > w->rate * WIDTH_GAIN : rate * WIDTH_KEPT > w->rate;

    if (better) {
        w->own = w->other;
        w->fewer = wider ? w->rate : 0;
        w->rate = rate;
        w->pause = WIDTH_SLICE;
    } else {
        w->fewer = wider ? w->fewer : rate;
        lengthen_pause(w);
    }
    rest_until_trial(w, now_ns);
}

static void end_own(struct width *w, uint64_t now_ns, double rate)
{
    double density = (double)w->stops / (double)w->windows;
    bool drops = rate < w->fewer * WIDTH_DROP;
    bool rises =
        w->own < w->most && density > w->density * WIDTH_DENSER && now_ns - w->tried_ns > WIDTH_RISES * w->epoch_ns;

    w->rate = rate;
    w->weighs = false;
    if (!drops && !rises && now_ns < w->trial_ns)
        return;
    if (drops)
        w->pause = WIDTH_SLICE;
    if (drops || rises)
        w->goes_down = drops;
    w->other = choose_other(w, density);
    if (w->other == 0)
        return;
    w->density = density;
    w->goes_down = w->other > w->own;
    w->now = w->other;
    w->weighs = true;
}

static double rate_of(const struct width *w, uint64_t now_ns, uint64_t work_ns)
{
    double rate = (double)work_ns / (double)(now_ns - w->begun_ns);

    return rate < w->now ? rate : w->now; /* what was counted late */
}

/* Returns true if harts have not stopped often enough yet to tell; more processors must not do less meanwhile. */
static bool needs_longer(const struct width *w, uint64_t now_ns, double rate)
{
    bool is_bad = w->other > w->own && rate < w->rate;

    return w->weighs && !is_bad && w->stops < w->stops_least && now_ns - w->begun_ns < WIDTH_EPOCHS * w->epoch_ns;
}

static void begin(struct width *w, uint64_t now_ns)
{
    w->begun_ns = now_ns;
    w->stops = w->next_stops = w->windows = 0;
}

static void end_epoch(struct width *w, uint64_t now_ns, double rate)
{
    if (w->other > 0)
        end_trial(w, now_ns, rate);
    else if (w->weighs)
        end_own(w, now_ns, rate);
    else
        w->weighs = true;
}

enum width_step width_look(struct width *w, uint64_t now_ns, uint64_t work_ns)
{
    uint32_t before = w->now;
    bool weighed = w->weighs, counts = w->begun_ns > 0;
    double rate = rate_of(w, now_ns, work_ns);

    if (counts && needs_longer(w, now_ns, rate))
        return WIDTH_GOES_ON;
    if (counts)
        end_epoch(w, now_ns, rate);
    bool changes = w->now != before || w->weighs != weighed;
    begin(w, changes ? 0 : now_ns);
    return changes ? WIDTH_CHANGES : WIDTH_BEGINS;
}

void width_refuse(struct width *w, uint64_t now_ns)
{
    lengthen_pause(w);
    rest_until_trial(w, now_ns);
}

void width_rest(struct width *w)
{
    w->own = w->fixed ? w->own : 1;
    w->pause = WIDTH_SLICE;
    rest_until_trial(w, 0);
    begin(w, 0);
}
