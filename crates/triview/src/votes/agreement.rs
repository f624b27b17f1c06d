//! What annotators have in common, whatever they err on: disagreement, the number of voters they are worth, and who is alike.

use super::cast::Votes;
use super::dawid_skene::Crowd;
use super::pairs::Pair;
use crate::diagnostics::LEVEL;
use crate::settings::agreement::{BEYOND, LEAST};
use std::collections::BTreeMap;

/// How annotators agree.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Agreement {
    /// A vote is wrong at least so often, whatever annotators have in common: where two disagree one of them is wrong, so that
    /// this is half of how often two votes on an item disagree.
    pub floor: f64,
    /// How many annotators who err independently would err together as little as those of an item do: the variance of one vote
    /// over that of an item's mean. Without gold it is a ceiling, as what all get wrong together is taken to be right.
    pub effective_voters: f64,
    /// Votes an item, of items with two or more.
    pub voters: f64,
    /// Of each annotator, how often it agrees with the other votes on its items beyond chance: one where it always does, zero where
    /// it would by chance (Cohen's kappa). Not a number where nobody else votes on them.
    pub beyond_chance: Vec<f64>,
}

impl Agreement {
    /// Of votes on items with these posteriors.
    pub(crate) fn new(votes: &Votes, crowd: &Crowd, posteriors: &[f64]) -> Self {
        let k = votes.k();
        let mut disagreed = [0.0_f64; 2];
        let (mut together, mut alone, mut items) = (0.0, 0.0_f64, 0.0_f64);
        // Of each annotator: agreements with other votes, and how many there were.
        let mut agreed = vec![[0.0_f64; 2]; votes.annotators()];
        let mut of_class = vec![0.0_f64; k];
        for item in 0..votes.items() {
            let (ballots, posterior) = (votes.of_item(item), &posteriors[item * k..(item + 1) * k]);
            if ballots.len() < 2 {
                continue;
            }
            of_class.fill(0.0);
            ballots.iter().for_each(|ballot| of_class[*ballot as usize % k] += 1.0);
            let others = ballots.len() as f64 - 1.0;
            for &ballot in ballots {
                let (ballot, class) = (ballot as usize, ballot as usize % k);
                let alike = of_class[class] - 1.0;
                let own = &mut agreed[ballot / k];
                *own = [own[0] + alike / others, own[1] + 1.0];
                disagreed = [disagreed[0] + 1.0 - alike / others, disagreed[1] + 1.0];
            }
            items += 1.0;
            for (label, p) in posterior.iter().enumerate().filter(|(_, p)| **p > LEAST) {
                let (mut sum, mut squares) = (0.0, 0.0);
                for &ballot in ballots {
                    let (ballot, class) = (ballot as usize, ballot as usize % k);
                    let right = crowd.of_ballot(ballot - class + label)[label];
                    let residual = f64::from(u8::from(class == label)) - right;
                    sum += residual;
                    squares += residual * residual;
                }
                together += p * (sum * sum - squares);
                alone += p * others * squares;
            }
        }
        let voters = disagreed[1] / items.max(1.0);
        let correlation = if alone > 0.0 { together / alone } else { 0.0 };
        let effective_voters = voters / (1.0 + (voters - 1.0) * correlation);
        Self {
            floor: 0.5 * disagreed[0] / disagreed[1].max(1.0),
            effective_voters: if effective_voters > 0.0 {
                effective_voters.clamp(1.0, voters.max(1.0))
            } else {
                voters
            },
            voters,
            beyond_chance: beyond_chance(votes, &agreed),
        }
    }
}

/// Cohen's kappa of each annotator and the other votes on its items.
fn beyond_chance(votes: &Votes, agreed: &[[f64; 2]]) -> Vec<f64> {
    let k = votes.k();
    let cast = votes.cast();
    let all: Vec<f64> = votes.by_class().into_iter().map(|n| n as f64).collect();
    let of_annotator = |(own, [agreed, met]): (&[u32], &[f64; 2])| {
        let total: f64 = own.iter().map(|n| f64::from(*n)).sum();
        let others = votes.len() as f64 - total;
        let chance: f64 = own
            .iter()
            .zip(&all)
            .map(|(own, all)| f64::from(*own) / total * (all - f64::from(*own)) / others)
            .sum();
        (agreed / met - chance) / (1.0 - chance)
    };
    cast.chunks_exact(k).zip(agreed).map(of_annotator).collect()
}

/// Groups of annotators that look alike: those joined by pairs that agree more than independent ones would, and by more than twice
/// what all pairs do on average, which items that are hard for everybody make alike.
pub(crate) fn alike(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let beyond =
        |pair: &Pair| (pair.agreement - pair.expected) / (1.0 - pair.expected).max(f64::MIN_POSITIVE);
    let usual = pairs.iter().map(beyond).sum::<f64>() / pairs.len().max(1) as f64;
    let joined =
        |pair: &&Pair| pair.p_value < LEVEL && beyond(pair) > BEYOND * usual.max(0.0) && beyond(pair) > 0.0;
    let most = pairs.iter().flat_map(|pair| pair.annotators).max().map_or(0, |annotator| annotator + 1);
    let mut parents: Vec<usize> = (0..most).collect();
    for pair in pairs.iter().filter(joined) {
        let [a, b] = pair.annotators.map(|annotator| root(&mut parents, annotator));
        parents[a.max(b)] = a.min(b);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..most).for_each(|annotator| groups.entry(root(&mut parents, annotator)).or_default().push(annotator));
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// The first of those that an annotator is joined with, each pointing to one before it.
fn root(parents: &mut [usize], mut annotator: usize) -> usize {
    while parents[annotator] != annotator {
        parents[annotator] = parents[parents[annotator]];
        annotator = parents[annotator];
    }
    annotator
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::votes::Vote;

    #[test]
    fn disagreement_by_hand() -> crate::Result<()> {
        // Three annotators: all agree on the first item, one of them does not on the second; the third has one vote.
        let cast = [[0, 0, 1], [0, 1, 1], [0, 2, 1], [1, 0, 0], [1, 1, 0], [1, 2, 1], [2, 0, 0]];
        let votes = cast.map(|[item, annotator, class]| Vote { item, annotator, class });
        let votes = Votes::new(2, 3, 3, &votes)?;
        let crowd = Crowd { prior: vec![0.5; 2], confusion: [0.8, 0.2, 0.2, 0.8].repeat(3) };
        let found = Agreement::new(&votes, &crowd, &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
        assert!((found.floor - 0.5 * (0.5 + 0.5 + 1.0) / 6.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.voters, 3.0);
        // Residuals are .2, .2, .2 and .2, .2, -.8: pairs of them sum to .24 and -.56 over .24 and 1.44 of squares.
        let correlation: f64 = (0.24 - 0.56) / (0.24 + 1.44);
        assert!((found.effective_voters - (3.0 / (1.0 + 2.0 * correlation)).min(3.0)).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn alike_are_those_who_agree_beyond_what_all_do() {
        let pair = |annotators, agreement, p_value| Pair {
            annotators,
            items: 100,
            agreement,
            expected: 0.5,
            p_value,
        };
        let mut pairs = vec![pair([2, 3], 0.9, 1e-9), pair([1, 2], 0.85, 1e-7), pair([5, 6], 0.9, 1e-9)];
        pairs.extend((7..30).map(|other| pair([4, other], 0.55, 0.01)));
        pairs.push(pair([8, 9], 0.1, 1e-9));
        assert_eq!(alike(&pairs), [vec![1, 2, 3], vec![5, 6]]);
    }
}
