/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The search over terms on times that follow a law known here, and its parts:
 * the fit against all subsets, changes, terms that must not be taken, answers
 * that are none.
 */
#include "../../runtime/dispatch/evolving.h"
#include "synthetic.h"

enum { KERNELS = 9, LAYERS = 12, SIZES = 4, SHAPES = LAYERS * SIZES };

typedef struct world {
  ws_arena *arena;
  ws_dispatch_entry entries[KERNELS];
  ws_shape shapes[SHAPES];
  double us[SHAPES * KERNELS];
  ws_matrix matrix;
  ws_selection_input input;
} world;

/* A card of 304 compute units (gfx942) that takes a workgroup's time in rounds,
 * pays for every slice of the depth, and sums slices afterwards. */
static double law(const ws_shape *shape, int tile, int split) {
  const double m = (double)shape->size[DIM_M], n = (double)shape->size[DIM_N],
               k = (double)shape->size[DIM_K];
  const double workgroups = ceil(m / tile) * ceil(n / 128) * split;
  const double rounds = ceil(workgroups / 304);
  return 3 + rounds * (k / split) * (0.001 + 0.00002 * tile) +
         (split > 1 ? m * n * split * 2e-6 : 0);
}

static void build_world(world *w) {
  static const int tiles[] = {16, 64, 128}, splits[] = {1, 2, 4};
  w->arena = ws_arena_create();
  const ws_template *tmpl = synthetic_template(w->arena);
  for (int e = 0; e < KERNELS; e++)
    w->entries[e] = synthetic_entry(
        w->arena, tmpl,
        ws_arena_printf(w->arena, "tile=%d;split=%d", tiles[e / 3],
                        splits[e % 3]));
  for (int i = 0; i < SHAPES; i++) {
    const int layer = i / SIZES;
    w->shapes[i] = gemm_shape(INT64_C(128) << (2 * (i % SIZES)),
                              512 + 640 * (layer % 4), 1024 << (layer / 4));
    for (int e = 0; e < KERNELS; e++)
      w->us[i * KERNELS + e] =
          ws_candidate_broken_require(w->entries[e].candidate, &w->shapes[i],
                                      NULL) < 0
              ? law(&w->shapes[i], tiles[e / 3], splits[e % 3])
              : INFINITY;
  }
  w->matrix = (ws_matrix){w->shapes, SHAPES, KERNELS, w->us, "hip:test"};
  w->input = (ws_selection_input){.problem = ws_problem_find("fp8_gemm_blockscale"),
                                  .target = ws_target_find("gfx942"),
                                  .entries = w->entries,
                                  .matrix = &w->matrix};
}

static const ws_time_terms *read_terms(world *w, const char *text) {
  const ws_time_terms *terms;
  ws_diag diag = {""};
  if (ws_time_terms_parse(w->arena, w->input.problem, text, "terms", &terms,
                          &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return terms;
}

static ws_evolve_report evolve(world *w, const ws_evolve_options *options) {
  ws_evolve_report report;
  ws_diag diag = {""};
  if (ws_terms_evolve(w->arena, &w->input, options, &report, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return report;
}

static double unseen_loss(const ws_band *bands, int count) {
  double sum = 0;
  int shapes = 0;
  for (int b = 0; b < count; b++) {
    sum += bands[b].ln_loss[WS_FORM_MODELS] * bands[b].shape_count;
    shapes += bands[b].shape_count;
  }
  return sum / shapes;
}

/* ---- the fit ---- */

/* Of a list of terms, by Gauss without pivots; the loss, or INFINITY where one
 * falls below 0. */
static double loss_of_subset(const ws__equations *in, int terms, unsigned set) {
  double a[5][6], x[5], loss = 0;
  int list[5], count = 0;
  for (int i = 0; i < terms; i++)
    if (set >> i & 1)
      list[count++] = i;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++)
      a[i][j] = list[i] < list[j] ? in->gram[list[j]][list[i]]
                                  : in->gram[list[i]][list[j]];
    a[i][count] = in->right[list[i]];
  }
  for (int p = 0; p < count; p++)
    for (int i = p + 1; i < count; i++)
      for (int j = count; j >= p; j--)
        a[i][j] -= a[p][j] * a[i][p] / a[p][p];
  for (int i = count - 1; i >= 0; i--) {
    x[i] = a[i][count];
    for (int j = i + 1; j < count; j++)
      x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
    if (x[i] < 0)
      return INFINITY;
  }
  for (int i = 0; i < count; i++)
    loss -= in->right[list[i]] * x[i]; /* at the minimum */
  return loss;
}

static double loss_at(const ws__equations *in, int terms, const double *x) {
  double loss = 0;
  for (int i = 0; i < terms; i++) {
    WS_CHECK(x[i] >= 0);
    loss -= 2 * in->right[i] * x[i];
    for (int j = 0; j < terms; j++)
      loss += x[i] * x[j] *
              (i < j ? in->gram[j][i] : in->gram[i][j]);
  }
  return loss;
}

WS_TEST(the_fit_is_the_best_of_all_subsets) {
  enum { TERMS = 5, ROWS = 12, TURNS = 200 };
  ws_rng rng;
  int zeros = 0;
  ws_rng_init(&rng, 3);
  for (int turn = 0; turn < TURNS; turn++) {
    double cells[TERMS][ROWS], us[ROWS];
    const double *values[TERMS];
    for (int t = 0; t < TERMS; t++) {
      values[t] = cells[t];
      for (int r = 0; r < ROWS; r++)
        cells[t][r] = exp(2 * ws_rng_normal(&rng));
    }
    for (int r = 0; r < ROWS; r++)
      us[r] = exp(ws_rng_normal(&rng));
    ws__observations seen = {
        .kernels = 1, .rows = ROWS, .terms = TERMS, .values = values, .us = us};
    ws__equations in = {.rows = 0};
    double x[TERMS], best = 0;
    ws__find_scales(&seen);
    for (int r = 0; r < ROWS; r++)
      ws__add_row(&seen, 0, r, 1, &in);
    ws__solve_constants(&in, TERMS, x);
    for (unsigned set = 1; set < 1 << TERMS; set++)
      best = fmin(best, loss_of_subset(&in, TERMS, set));
    WS_CHECK_NEAR(loss_at(&in, TERMS, x), best, 1e-4 * fabs(best));
    for (int t = 0; t < TERMS; t++)
      zeros += x[t] == 0;
  }
  WS_CHECK(zeros > TURNS / 2); /* the bound was met */
}

/* ---- changes ---- */

static const char *mutate_often(world *w, uint64_t seed, int times) {
  int columns[KERNELS];
  ws_rng rng;
  ws_rng_init(&rng, seed);
  for (int e = 0; e < KERNELS; e++)
    columns[e] = e;
  const ws__vocabulary vocabulary = ws__vocabulary_of(
      w->arena, w->input.problem, w->entries, columns, KERNELS);
  const char *text = ws_time_terms_default();
  for (int i = 0; i < times; i++) {
    const ws_time_terms *terms = read_terms(w, text); /* parses */
    WS_CHECK(terms->count >= 1 && terms->count <= WS_TIME_TERMS_MOST);
    text = ws__mutate_terms(w->arena, &vocabulary, &rng, terms->written,
                            terms->count);
  }
  return text;
}

WS_TEST(changes_follow_from_the_seed_and_parse) {
  world w;
  build_world(&w);
  const char *one = mutate_often(&w, 1, 2000);
  WS_CHECK_TEXT(mutate_often(&w, 1, 2000), one);
  WS_CHECK(strcmp(mutate_often(&w, 2, 2000), one));
  ws_arena_destroy(w.arena);
}

/* Written with few parentheses an expression still has its value. */
WS_TEST(a_term_is_rewritten_without_change) {
  static const struct {
    const char *given, *written;
  } cases[] = {{"((A)*(B))*D", "A * B * D"},
               {"A*(B*D)", "A * B * D"},
               {"A-(B-D)", "A - (B - D)"},
               {"A-B-D", "A - B - D"},
               {"A/(B*D)", "A / (B * D)"},
               {"A*(B/D)", "A * (B / D)"},
               {"(A+B)*D", "(A + B) * D"},
               {"-(A+B)*D", "-(A + B) * D"},
               {"(A<B?A:B)*D", "(A < B ? A : B) * D"},
               {"A%(B/3)", "A % (B / 3)"},
               {"A+B<D&&B==A+2", "A + B < D && B == A + 2"},
               {"(A<B)==(B<D)", "A < B == B < D"},
               {"ceildiv((A),min(B,(D+1)))", "ceildiv(A, min(B, D + 1))"}};
  ws_arena *arena = ws_arena_create();
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_expr *given, *written;
    const char *text = ws__rewrite_term(arena, cases[i].given);
    WS_CHECK_TEXT(text, cases[i].written);
    WS_CHECK_INT(ws_expr_parse(arena, cases[i].given, "", 0, &given, NULL), 0);
    WS_CHECK_INT(ws_expr_parse(arena, text, "", 0, &written, NULL), 0);
    for (int turn = 0; turn < 100; turn++) {
      const ws_binding sizes[] = {{"A", 1 + (int64_t)ws_rng_below(&rng, 9)},
                                  {"B", 3 + (int64_t)ws_rng_below(&rng, 9)},
                                  {"D", 1 + (int64_t)ws_rng_below(&rng, 9)}};
      const ws_scope scope = {sizes, 3};
      int64_t want, got;
      WS_CHECK_INT(ws_expr_eval(given, &scope, &want, NULL), WS_OK);
      WS_CHECK_INT(ws_expr_eval(written, &scope, &got, NULL), WS_OK);
      WS_CHECK_INT(got, want);
    }
  }
  ws_arena_destroy(arena);
}

/* ---- terms that must not be taken ---- */

static const char *left_out(world *w, const char *text) {
  const ws_time_terms *terms = read_terms(w, text);
  WS_CHECK_INT(ws_time_terms_count(terms), 1);
  return ws_time_terms_left_out(w->arena, terms, 0, w->entries, KERNELS,
                                w->input.target);
}

WS_TEST(unsafe_terms_are_left_out_and_said) {
  static const char *const unsafe[] = {"D / (A - 128)", "D % (A - A)",
                                       "ceildiv(D, A / 64)", "A * A * A * A"};
  world w;
  build_world(&w);
  for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
    WS_CHECK_CONTAINS(left_out(&w, unsafe[i]), "divide by zero");
  WS_CHECK_CONTAINS(left_out(&w, "A * warpgroups"), "names what no kernel has");
  WS_CHECK(left_out(&w, "ceildiv(A, tile) * D") == NULL);
  ws_arena_destroy(w.arena);
}

WS_TEST(terms_that_fit_nothing_leave_the_choice_to_the_tree) {
  world w;
  build_world(&w);
  w.input.terms = read_terms(&w, "D / (A - 128)\nA * warpgroups\n");
  ws_dispatch_choice choice;
  ws_diag diag = {""};
  if (ws_dispatch_choose(w.arena, &w.input, &choice, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const ws_band *bands;
  const int count = ws_selection_bands(choice.selection, &bands);
  for (int b = 0; b < count; b++)
    WS_CHECK_INT(bands[b].form, WS_FORM_TREE);
  WS_CHECK_INT(ws_selection_unmodelled(choice.selection), choice.count);
  /* What was timed is still known. */
  WS_CHECK(ws_selection_regret(choice.selection, &w.matrix).max < 1.05);
  ws_arena_destroy(w.arena);
}

/* Kernel 0, of which no term says anything, is best but on one shape: models
 * that know nothing of it would choose it always, and lose less than a tree
 * that learned of that shape. */
WS_TEST(a_kernel_without_a_model_leaves_the_choice_to_the_tree) {
  world w;
  build_world(&w);
  for (int i = 0; i < SHAPES; i++)
    for (int e = 0; e < KERNELS; e++)
      w.us[i * KERNELS + e] = e == 0 ? 10 : 20 + e;
  for (int i = 5; i < SHAPES; i += 11) {
    w.us[i * KERNELS] = 40;
    w.us[i * KERNELS + 1] = 10;
  }
  w.input.terms = read_terms(&w, "D / (split - 1)\n");
  ws_dispatch_choice choice;
  ws_diag diag = {""};
  if (ws_dispatch_choose(w.arena, &w.input, &choice, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(ws_selection_unmodelled(choice.selection), 1);
  const ws_band *bands;
  bool models_won = false;
  const int count = ws_selection_bands(choice.selection, &bands);
  for (int b = 0; b < count; b++) {
    models_won |= bands[b].ln_loss[WS_FORM_MODELS] <
                  bands[b].ln_loss[WS_FORM_TREE] - 0.01;
    WS_CHECK_INT(bands[b].form, WS_FORM_TREE);
  }
  WS_CHECK(models_won); /* else this would say nothing */
  ws_arena_destroy(w.arena);
}

/* ---- the judge ---- */

/* What is chosen on rows does not follow from their own times. */
WS_TEST(a_fold_is_judged_by_models_of_the_others) {
  enum { FOLDS = 3 };
  world w;
  int fold[SHAPES];
  ws_rng rng;
  build_world(&w);
  ws_rng_init(&rng, 4);
  for (int i = 0; i < SHAPES; i++)
    fold[i] = i / SIZES % FOLDS;
  const ws_time_terms *terms = read_terms(&w, ws_time_terms_default());
  ws_dispatch_choice choice;
  ws_diag diag = {""};
  if (ws_dispatch_choose(w.arena, &w.input, &choice, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  ws__judged_terms before, after;
  ws__judge *judge = ws__judge_create(choice.selection, fold, FOLDS);
  ws__judge_terms(judge, terms, NULL, &before);
  ws__judge_destroy(judge);
  for (int i = 0; i < SHAPES; i++)
    for (int e = 0; e < KERNELS; e++)
      if (fold[i] == 1)
        w.us[i * KERNELS + e] *= exp(2 * ws_rng_normal(&rng));
  judge = ws__judge_create(choice.selection, fold, FOLDS);
  ws__judge_terms(judge, terms, &before, &after);
  int moved = 0;
  for (int i = 0; i < SHAPES; i++) {
    if (fold[i] == 1)
      WS_CHECK_INT(after.picks[i], before.picks[i]);
    moved += after.picks[i] != before.picks[i];
  }
  WS_CHECK(moved > 0);
  WS_CHECK(after.ln_loss > before.ln_loss);
  ws__judged_terms_deinit(&before);
  ws__judged_terms_deinit(&after);
  ws__judge_destroy(judge);
  ws_arena_destroy(w.arena);
}

/* ---- the search ---- */

static const ws_evolve_options by_chance = {.evaluations = 400, .seed = 5};

WS_TEST(a_search_finds_terms_that_choose_better_unseen) {
  world w;
  build_world(&w);
  w.input.terms = read_terms(&w, "1\nA\n");
  const ws_evolve_report r = evolve(&w, &by_chance);
  WS_CHECK_INT(r.group_count, LAYERS);
  WS_CHECK_INT(r.seen_groups, LAYERS - LAYERS / 3);
  const double before = unseen_loss(r.before, r.band_count),
               after = unseen_loss(r.after, r.band_count);
  printf("# unseen: %.3f, was %.3f\n%s", exp(after), exp(before), r.terms);
  WS_CHECK(r.accepted > 0 && r.ln_loss_after < r.ln_loss_before);
  WS_CHECK(before > 0.03); /* two terms that say nothing of workgroups */
  WS_CHECK(after < before / 4);
  const ws_evolve_report again = evolve(&w, &by_chance);
  WS_CHECK_TEXT(again.terms, r.terms);
  WS_CHECK(again.ln_loss_after == r.ln_loss_after);
  ws_evolve_options other = by_chance;
  other.seed = 6;
  WS_CHECK(strcmp(evolve(&w, &other).terms, r.terms));
  ws_arena_destroy(w.arena);
}

/* A third of the groups may have any times: nothing but the report changes. */
WS_TEST(a_third_of_the_groups_is_not_looked_at) {
  world w;
  build_world(&w);
  const ws_evolve_options few = {.evaluations = 60, .seed = 2};
  const ws_evolve_report plain = evolve(&w, &few);
  int untouched = 0;
  for (int layer = 0; layer < LAYERS; layer++) {
    double kept[SIZES * KERNELS];
    double *us = &w.us[layer * SIZES * KERNELS];
    memcpy(kept, us, sizeof kept);
    for (int i = 0; i < SIZES * KERNELS; i++)
      us[i] *= 1 + i % 7;
    const ws_evolve_report r = evolve(&w, &few);
    untouched += !strcmp(r.terms, plain.terms) &&
                 r.ln_loss_before == plain.ln_loss_before &&
                 r.ln_loss_after == plain.ln_loss_after;
    memcpy(us, kept, sizeof kept);
  }
  WS_CHECK_INT(untouched, LAYERS / 3);
  ws_arena_destroy(w.arena);
}

WS_TEST(few_groups_are_refused) {
  world w;
  ws_evolve_report report;
  ws_diag diag = {""};
  build_world(&w);
  w.matrix.shape_count = 5 * SIZES;
  WS_CHECK_INT(
      ws_terms_evolve(w.arena, &w.input, &by_chance, &report, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "5 groups");
  ws_arena_destroy(w.arena);
}

/* ---- who is asked ---- */

typedef struct oracle {
  const char *const *answers;
  int asked;
} oracle;

static ws_status answer(void *context, ws_arena *arena,
                        const ws_terms_question *question,
                        const char **out_answer, ws_diag *diag) {
  oracle *of = context;
  (void)arena, (void)diag;
  WS_CHECK_INT(question->number, of->asked);
  WS_CHECK_CONTAINS(question->names, "tile");
  for (int i = 0; i < question->miss_count; i++) {
    WS_CHECK(question->misses[i].chosen_us > question->misses[i].best_us);
    WS_CHECK(question->misses[i].chosen != question->misses[i].best);
  }
  *out_answer = of->answers[of->asked++];
  return WS_OK;
}

WS_TEST(answers_are_judged_or_refused) {
  static const char *const answers[] = {
      "D +", "Sorry, I cannot.", NULL, "",
      "1\nceildiv(workgroups, cu_count) * ceildiv(D, split)\nA * B * split\n",
      "A\n"};
  enum { QUESTIONS = sizeof answers / sizeof *answers };
  world w;
  build_world(&w);
  w.input.terms = read_terms(&w, "A * B\n");
  oracle of = {answers, 0};
  const ws_evolve_options options = {.evaluations = QUESTIONS,
                                     .seed = 1,
                                     .ask = answer,
                                     .context = &of,
                                     .questions = QUESTIONS};
  const ws_evolve_report r = evolve(&w, &options);
  WS_CHECK_INT(of.asked, QUESTIONS);
  WS_CHECK_INT(r.answers, QUESTIONS);
  WS_CHECK_INT(r.refused, 3);
  WS_CHECK_CONTAINS(r.refusal, "answer 4"); /* the empty one */
  WS_CHECK_CONTAINS(r.terms, "ceildiv(workgroups, cu_count) * ceildiv(D, split)");
  /* The fifth is the law itself. */
  WS_CHECK(unseen_loss(r.after, r.band_count) < 0.02);
  ws_arena_destroy(w.arena);
}
