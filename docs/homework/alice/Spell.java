import java.util.List;

/** The longest run of warm days. */
public class Spell {
    static int longest(List<Double> days, double warm) {
        int best = 0;
        int current = 0;
        for (int i = 0; i < days.size(); i++) {
            if (days.get(i) >= warm) {
                current++;
                if (current > best) {
                    best = current;
                }
            } else {
                current = 0;
            }
        }
        return best;
    }

    static double mean(List<Double> days) {
        double sum = 0;
        for (double day : days) {
            sum += day;
        }
        return days.isEmpty() ? 0 : sum / days.size();
    }

    public static void main(String[] args) throws Exception {
        List<Double> days = Reader.read(args[0]);
        double warm = args.length > 1 ? Double.parseDouble(args[1]) : 25;
        System.out.println("longest: " + longest(days, warm));
        System.out.printf("mean: %.1f%n", mean(days));
    }
}
