//! Who is who: the order of the latent classes (appendix A of the paper).

use crate::numeric::argmax;
use faer::Mat;
use pathfinding::matrix::Matrix;
use pathfinding::prelude::kuhn_munkres;

/// An assignment of latent classes to named ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matching {
    /// For each named class, its latent one; where there are more of these, those of the first class, and so on.
    pub(crate) order: Vec<usize>,
    /// The class that the latent one in each place of `order` is called by.
    pub(crate) names: Vec<usize>,
    /// Classes that no latent one would be called by if it were free.
    pub(crate) nameless: Vec<usize>,
    /// How many latent ones would be called by another class if the number of each class's were not given.
    pub(crate) overruled: usize,
    /// The best assignment, where the second-best may differ from it: pairs of a class and the place in `order` of a latent
    /// one.
    pub(crate) best: Vec<[usize; 2]>,
    /// The same of the second-best.
    pub(crate) second: Vec<[usize; 2]>,
    /// By how much the second-best assignment is worse: `gap(theta_0)` of section 4 of the paper.
    pub(crate) gap: f64,
}

/// The assignment with the largest total weight, in `O(k^3)`, and its lead over the second-best, in `k` more
/// solutions: the second-best lacks at least one pair of the best. `weights[(i, j)]` is the gain from calling
/// latent class `i` by name `j`, `X_ij = pi_i sum_v M_v[j, i]`.
pub(crate) fn assign(weights: &Mat<f64>) -> Matching {
    let k = weights.nrows();
    let ranks = Ranks::new(weights);
    let order = ranks.best(&[]);
    let total = |order: &[usize]| order.iter().enumerate().map(|(j, &i)| weights[(i, j)]).sum::<f64>();
    let second = (0..k)
        .map(|name| ranks.best(&[(name, order[name])]))
        .max_by(|a, b| total(a).total_cmp(&total(b)))
        .unwrap_or_else(|| order.clone());
    let place = |latent: usize| order.iter().position(|&own| own == latent).unwrap_or(latent);
    Matching {
        gap: total(&order) - total(&second),
        names: (0..k).collect(),
        nameless: Vec::new(),
        overruled: 0,
        best: (0..k).map(|j| [j, j]).collect(),
        second: second.into_iter().enumerate().map(|(j, latent)| [j, place(latent)]).collect(),
        order,
    }
}

/// Calls each of more latent states than classes by the class with the largest weight, so that every class has a state: the
/// assignment of states to one place for each class, and to free places that are worth as much as a state's best
/// class. The second-best calls one state by another class. States come in the order of their classes, those of a class
/// with the larger prior first.
pub(crate) fn call_states(weights: &Mat<f64>, prior: &[f64]) -> Matching {
    let (states, k) = (weights.nrows(), weights.ncols());
    let largest = |state: usize, but: Option<usize>| {
        let classes = (0..k).filter(|&class| Some(class) != but);
        classes.max_by(|&a, &b| weights[(state, a)].total_cmp(&weights[(state, b)])).unwrap_or(0)
    };
    let free: Vec<usize> = (0..states).map(|state| largest(state, None)).collect();
    let places = Mat::from_fn(states, states, |state, place| {
        weights[(state, if place < k { place } else { free[state] })]
    });
    let mut class_of = free.clone();
    for (class, state) in Ranks::new(&places).best(&[]).into_iter().take(k).enumerate() {
        class_of[state] = class;
    }
    let mut order: Vec<usize> = (0..states).collect();
    order.sort_by(|&a, &b| class_of[a].cmp(&class_of[b]).then(prior[b].total_cmp(&prior[a])));
    let names: Vec<usize> = order.iter().map(|&state| class_of[state]).collect();
    let rival = |place: usize| largest(order[place], Some(names[place]));
    let lead = |place: usize| weights[(order[place], names[place])] - weights[(order[place], rival(place))];
    let closest = (0..states).min_by(|&a, &b| lead(a).total_cmp(&lead(b))).unwrap_or(0);
    Matching {
        gap: lead(closest),
        best: vec![[names[closest], closest]],
        second: vec![[rival(closest), closest]],
        nameless: (0..k).filter(|class| !free.contains(class)).collect(),
        overruled: 0,
        names,
        order,
    }
}

/// The same where each class has a given number of states: the assignment of states to so many places of each class. The
/// second-best lacks at least one pair of a state and its class.
pub(crate) fn call_counted(weights: &Mat<f64>, prior: &[f64], counts: &[usize]) -> Matching {
    let (states, k) = (weights.nrows(), weights.ncols());
    let class_at: Vec<usize> =
        counts.iter().enumerate().flat_map(|(class, &count)| std::iter::repeat_n(class, count)).collect();
    let ranks = Ranks::new(&Mat::from_fn(states, states, |state, place| weights[(state, class_at[place])]));
    let classes_of = |order: Vec<usize>| {
        let mut class_of = vec![0; states];
        order.into_iter().enumerate().for_each(|(place, state)| class_of[state] = class_at[place]);
        class_of
    };
    let total = |class_of: &[usize]| (0..states).map(|state| weights[(state, class_of[state])]).sum::<f64>();
    let class_of = classes_of(ranks.best(&[]));
    let without = |state: usize| {
        let own = (0..states).filter(|&place| class_at[place] == class_of[state]);
        classes_of(ranks.best(&own.map(|place| (place, state)).collect::<Vec<_>>()))
    };
    let second = (0..states).map(without).max_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or_default();
    let mut order: Vec<usize> = (0..states).collect();
    order.sort_by(|&a, &b| class_of[a].cmp(&class_of[b]).then(prior[b].total_cmp(&prior[a])));
    let best_class = |state: usize| argmax((0..k).map(|class| weights[(state, class)]));
    let free: Vec<usize> = (0..states).map(best_class).collect();
    let pairs =
        |class_of: &[usize]| order.iter().enumerate().map(|(z, &state)| [class_of[state], z]).collect();
    Matching {
        gap: total(&class_of) - total(&second),
        names: order.iter().map(|&state| class_of[state]).collect(),
        nameless: (0..k).filter(|class| !free.contains(class)).collect(),
        overruled: class_of.iter().zip(&free).filter(|(given, free)| given != free).count(),
        best: pairs(&class_of),
        second: pairs(&second),
        order,
    }
}

/// Weights as whole numbers. The assignment algorithm looks for differences that are exactly zero, which rounding
/// keeps floating-point numbers from ever reaching.
struct Ranks {
    cells: Matrix<i64>,
}

/// The range of weights is spread over so many whole numbers; sums of thousands of them do not overflow.
const SPREAD: f64 = (1_i64 << 48) as f64;

impl Ranks {
    /// One row a name, one column a latent class. What is not a finite number counts as the smallest that is.
    fn new(weights: &Mat<f64>) -> Self {
        let k = weights.nrows();
        let finite = || (0..k * k).map(|cell| weights[(cell / k, cell % k)]).filter(|w| w.is_finite());
        let (least, most) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let scale = if most > least { SPREAD / (most - least) } else { 0.0 };
        let rank =
            |weight: f64| if weight.is_finite() { ((weight - least) * scale).round() as i64 } else { 0 };
        Self { cells: Matrix::from_fn(k, k, |(name, latent)| rank(weights[(latent, name)])) }
    }

    /// For each name its latent class in the best assignment without these pairs.
    fn best(&self, without: &[(usize, usize)]) -> Vec<usize> {
        let mut cells = self.cells.clone();
        for &pair in without {
            cells[pair] = -(SPREAD as i64) * cells.rows as i64;
        }
        kuhn_munkres(&cells).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_the_second_best_are_found() {
        let weights = Mat::from_fn(3, 3, |i, j| [[0.1, 3.0, 0.2], [2.0, 1.9, 0.0], [0.0, 0.5, 1.0]][i][j]);
        let matching = assign(&weights);
        assert_eq!(matching.order, [1, 0, 2]);
        // Second: latent 1 and 2 called 0 and 1, latent 0 called 2, or 0 -> 0 and 1 -> 1.
        assert!((matching.gap - (6.0 - 3.0)).abs() < 1e-12, "{}", matching.gap);
        assert_eq!(matching.second.len(), 3);
    }

    #[test]
    fn states_are_called_by_their_best_class() {
        let cells = [[0.1, 0.9], [0.8, 0.3], [0.2, 0.7], [0.6, 0.5]];
        let matching = call_states(&Mat::from_fn(4, 2, |i, j| cells[i][j]), &[0.3, 0.2, 0.4, 0.1]);
        assert_eq!(matching.order, [1, 3, 2, 0]);
        assert_eq!(matching.names, [0, 0, 1, 1]);
        assert_eq!((matching.best, matching.second), (vec![[0, 1]], vec![[1, 1]]));
        assert!((matching.gap - 0.1).abs() < 1e-12, "{}", matching.gap);
        assert!(matching.nameless.is_empty());
    }

    #[test]
    fn every_class_has_a_state() {
        let cells = [[0.9, 0.1, 0.2], [0.8, 0.7, 0.1], [0.6, 0.2, 0.1], [0.5, 0.3, 0.4]];
        let matching = call_states(&Mat::from_fn(4, 3, |i, j| cells[i][j]), &[0.25; 4]);
        assert_eq!(matching.names, [0, 0, 1, 2]);
        assert_eq!(matching.order, [0, 2, 1, 3]);
        assert_eq!(matching.nameless, [1, 2]);
    }

    #[test]
    fn classes_have_as_many_states_as_are_given() {
        let cells = [[0.9, 0.1], [0.8, 0.3], [0.6, 0.5], [0.1, 0.4]];
        let weights = Mat::from_fn(4, 2, |i, j| cells[i][j]);
        let free = call_states(&weights, &[0.25; 4]);
        assert_eq!(free.names, [0, 0, 0, 1]);
        let counted = call_counted(&weights, &[0.25; 4], &[2, 2]);
        assert_eq!((counted.order, counted.names), (vec![0, 1, 2, 3], vec![0, 0, 1, 1]));
        // The second-best swaps the middle two: 0.9 + 0.3 + 0.6 + 0.4 after 0.9 + 0.8 + 0.5 + 0.4.
        assert!((counted.gap - 0.4).abs() < 1e-12, "{}", counted.gap);
        assert_eq!(counted.best, [[0, 0], [0, 1], [1, 2], [1, 3]]);
        assert_eq!(counted.second, [[0, 0], [1, 1], [0, 2], [1, 3]]);
        assert!(counted.nameless.is_empty());
        assert_eq!((counted.overruled, free.overruled), (1, 0));
    }

    #[test]
    fn enormous_and_broken_weights_end() {
        let cells = [1e300, -3.7, f64::NAN, 1e-300, f64::NEG_INFINITY, 0.1, 0.3, 1e18, -1e299];
        let matching = assign(&Mat::from_fn(3, 3, |i, j| cells[3 * i + j]));
        let mut order = matching.order.clone();
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn no_rounding_keeps_it_from_ending() {
        for seed in 0..200_u64 {
            let wave = |i: usize, j: usize| ((seed as f64 + 1.3 * i as f64) * (j as f64 + 0.7)).sin() / 3.0;
            let matching = assign(&Mat::from_fn(10, 10, wave));
            assert!(matching.gap >= 0.0, "{seed}: {}", matching.gap);
        }
    }

    /// Every order of so many things.
    fn orders(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let with_last = |order: Vec<usize>| {
            (0..count).map(move |place| {
                let mut longer = order.clone();
                longer.insert(place, count - 1);
                longer
            })
        };
        orders(count - 1).into_iter().flat_map(with_last).collect()
    }

    proptest::proptest! {
        #[test]
        fn no_assignment_is_better_than_the_best_and_none_but_it_than_the_second(
            cells in proptest::collection::vec(-5.0_f64..5.0, 25), k in 2_usize..=5,
        ) {
            let weights = Mat::from_fn(k, k, |i, j| cells[i * 5 + j]);
            let total = |order: &[usize]| order.iter().enumerate().map(|(j, &i)| weights[(i, j)]).sum::<f64>();
            let mut totals: Vec<f64> = orders(k).iter().map(|order| total(order)).collect();
            totals.sort_by(|a, b| b.total_cmp(a));
            let matching = assign(&weights);
            // Weights are whole numbers in 2^48 steps of their range.
            proptest::prop_assert!((total(&matching.order) - totals[0]).abs() < 1e-9);
            proptest::prop_assert!((matching.gap - (totals[0] - totals[1])).abs() < 1e-9);
        }

        #[test]
        fn states_are_called_as_brute_force_would(
            cells in proptest::collection::vec(-5.0_f64..5.0, 12), prior in proptest::collection::vec(0.1_f64..1.0, 4),
        ) {
            let weights = Mat::from_fn(4, 3, |i, j| cells[i * 3 + j]);
            // Of all ways to call four states by three classes, each class at least once, the one with the largest sum.
            let calls = (0..81_usize).map(|code| [code / 27, code / 9 % 3, code / 3 % 3, code % 3]);
            let every_class = |call: &[usize; 4]| (0..3).all(|class| call.contains(&class));
            let total = |call: &[usize]| call.iter().enumerate().map(|(z, &class)| weights[(z, class)]).sum::<f64>();
            let best = calls.filter(every_class).map(|call| total(&call)).fold(f64::NEG_INFINITY, f64::max);
            let matching = call_states(&weights, &prior);
            let mut found = vec![0; 4];
            matching.order.iter().zip(&matching.names).for_each(|(&state, &class)| found[state] = class);
            proptest::prop_assert!((total(&found) - best).abs() < 1e-9);
        }
    }
}
